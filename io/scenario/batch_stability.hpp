#pragma once

#include "io/scenario/scenario.hpp"

#include <string>

namespace prismopt {

/// Note on the stability of the largest batch of a scenario that chooses the batch or changes it in a ramp,
/// and does not limit it by max_global_batch: the published runs nearest to it in parameters, batch and,
/// where both are known, learning rate and epsilon of Adam, with what their authors say; and what Molybog et
/// al., arXiv 2304.09871, observed, who state no threshold. Empty for other scenarios, and if no batch is
/// larger than the reference batch or that of the phase.
std::string batch_stability_text(const Scenario& scenario);

}  // namespace prismopt
