#pragma once

/// Predictors of the variants of a study, created on demand. Those used last are kept.

#include "io/scenario/scenario.hpp"
#include "io/scenario/variants.hpp"
#include "model/predictor.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace prismopt {

/// Makes the problem that of a variant.
void apply_variant(Problem& problem, Variant variant);

class HardwareBench {
public:
    /// Scenario and base problem must outlive the bench.
    HardwareBench(const Scenario& scenario, const Problem& base) : scenario_(scenario), base_(base) {}
    /// Of plans that fit with this probability instead of that of the base problem.
    HardwareBench(const Scenario& scenario, const Problem& base, double fit_probability)
        : scenario_(scenario), base_(base), fit_probability_(fit_probability)
    {
    }

    /// The predictor of a variant of Scenario::variants, with the memory limit of the base
    /// problem. Valid until the next call.
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
    std::optional<double> fit_probability_;
    std::map<std::size_t, Stand> stands_;
    std::uint64_t calls_ = 0;
};

/// Benches of plans that fit into memory with the probability of the limit, and of those that may not.
class HardwareBenches {
public:
    HardwareBenches(const Scenario& scenario, const Problem& base)
        : certain_(scenario, base), doubtful_(scenario, base, least_limit(base.memory_limit).probability)
    {
    }

    HardwareBench& of(Feasibility feasibility)
    {
        return feasibility == Feasibility::certain ? certain_ : doubtful_;
    }

private:
    HardwareBench certain_;
    HardwareBench doubtful_;
};

}  // namespace prismopt
