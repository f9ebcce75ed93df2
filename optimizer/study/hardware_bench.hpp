#pragma once

/// Predictors, one for each kind of hardware of a study, made when they are first asked for.

#include "io/scenario/scenario.hpp"
#include "model/predictor.hpp"

#include <cstddef>
#include <map>
#include <memory>

namespace prismopt {

class HardwareBench {
public:
    /// Scenario and base problem must outlive the bench.
    HardwareBench(const Scenario& scenario, const Problem& base) : scenario_(scenario), base_(base) {}

    /// The predictor of a variant of Scenario::hardware (0 where there are no knobs). Stays valid until another is asked for.
    Predictor& of(std::size_t variant);
    /// What that predictor judges against.
    const Problem& problem(std::size_t variant);

private:
    struct Stand {
        std::shared_ptr<const Problem> own;  // shared by copies of the bench; none: the base problem
        Predictor predictor;
    };
    Stand& stand(std::size_t variant);

    const Scenario& scenario_;
    const Problem& base_;
    std::map<std::size_t, Stand> stands_;
};

}  // namespace prismopt
