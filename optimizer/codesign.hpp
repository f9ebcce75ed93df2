#pragma once

/// Co-design: continuous knobs tuned for plans along the front, so that the search then judges these kinds of hardware too.

#include "io/scenario.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

struct TunedHardware {
    std::vector<std::vector<double>> hardware;  // values of the knobs, as in Scenario::hardware; none twice
    std::uint64_t evaluations = 0;
};

/// Whether the strategy of the scenario tunes knobs before it searches. Throws InputError where there is nothing to tune.
bool tunes_hardware(const Scenario& scenario);

/// What a tuning asks the model at most.
std::uint64_t most_tuning_evaluations(const Scenario& scenario);

/// Finds the front of the knobs' levels without noise, then for directions evenly spread over the objectives the knobs that
/// minimise the augmented Chebyshev scalarisation at each of the best discrete choices. Deterministic.
TunedHardware tune_hardware(const Scenario& scenario);

}  // namespace prismopt
