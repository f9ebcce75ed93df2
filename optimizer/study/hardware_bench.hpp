#pragma once

/// Predictors of the variants of a study, created on demand. Those used last are kept.

#include "io/scenario/scenario.hpp"
#include "io/scenario/variants.hpp"
#include "model/predictor.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

namespace prismopt {

/// Makes the problem that of a variant.
void take_variant(Problem& problem, Variant variant);

class HardwareBench {
public:
    /// Scenario and base problem must outlive the bench.
    HardwareBench(const Scenario& scenario, const Problem& base) : scenario_(scenario), base_(base) {}

    /// The predictor of a variant of Scenario::variants, with the memory limit of the base problem. Valid until the next call.
    Predictor& of(std::size_t variant);
    /// The problem of that predictor.
    const Problem& problem(std::size_t variant);

private:
    struct Stand {
        std::shared_ptr<const Problem> problem;  // shared by copies of the bench
        Predictor predictor;
        std::uint64_t used = 0;  // by this call
    };
    Stand& stand(std::size_t variant);
    void make_room();

    const Scenario& scenario_;
    const Problem& base_;
    std::map<std::size_t, Stand> stands_;
    std::uint64_t calls_ = 0;
};

}  // namespace prismopt
