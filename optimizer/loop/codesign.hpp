#pragma once

/// Co-design: tunes continuous hardware parameters for plans along the front. The search then
/// includes these hardware variants.

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
    std::vector<ChosenValues> variants;  // as in Scenario::variants; without duplicates
    std::uint64_t evaluations = 0;
};

/// Whether the strategy of the scenario tunes hardware parameters before it searches. Throws
/// InputError if there is nothing to tune.
bool tunes_hardware(const Scenario& scenario);

/// Maximum number of model evaluations of a tuning.
std::uint64_t most_tuning_evaluations(const Scenario& scenario);

/// Callbacks that resume and stop a tuning. Each may be empty.
struct TuningLog {
    std::function<std::optional<Message>(const std::string& question)> recall;  // its answer, if known
    std::function<void(const std::string& question, const Message& answer)> learn;
    std::function<bool()> stop;  // called several times per second
};

/// Thrown when a tuning stops early; the text states its progress.
class TuningStopped : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Finds the noise-free front over the levels of the hardware parameters; then, for evenly spread directions
/// in objective space, the hardware parameters that minimise the augmented Chebyshev scalarisation for each
/// of the best discrete choices. Deterministic, also with recalled answers. Throws TuningStopped.
TunedHardware tune_hardware(const Scenario& scenario, const TuningLog& log = {});

}  // namespace prismopt
