#pragma once

/// Co-design: continuous knobs tuned for plans along the front, so that the search then judges these kinds of hardware too.

#include "io/scenario/scenario.hpp"
#include "optimizer/parallel/communicator.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
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

/// How a tuning goes on from an earlier one, and ends early. Each may be empty.
struct TuningLog {
    std::function<std::optional<Message>(const std::string& question)> recall;  // its answer, if it is known
    std::function<void(const std::string& question, const Message& answer)> learn;
    std::function<bool()> stop;  // asked several times a second
};

/// Says how far the tuning came.
class TuningStopped : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Finds the front of the knobs' levels without noise, then for directions evenly spread over the objectives the knobs that
/// minimise the augmented Chebyshev scalarisation at each of the best discrete choices. Deterministic, also
/// with answers that were recalled. Throws TuningStopped.
TunedHardware tune_hardware(const Scenario& scenario, const TuningLog& log = {});

}  // namespace prismopt
