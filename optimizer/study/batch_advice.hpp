#pragma once

/// What to change where no number of replicas divides the batch.

#include "io/scenario/scenario.hpp"

#include <string>

namespace prismopt {

/// Proposes a global batch near the given one that most combinations of degrees of [space] divide among its
/// GPUs, and the nearest number of GPUs among which some divide the given one. Empty with several batches.
std::string batch_advice(const Scenario& scenario);

}  // namespace prismopt
