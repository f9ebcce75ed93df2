#pragma once

/// Cost estimate of a search.

#include "io/scenario/scenario.hpp"
#include "optimizer/parallel/stop.hpp"

#include <string>

namespace prismopt {

/// Counts the space (or a sample of it, if it is large), times noise-free evaluations and draws, and estimates the core-hours.
/// Calls `pause` frequently; its exceptions pass through. Throws InputError if no plan of the space is feasible.
std::string dry_run_text(const Scenario& scenario, const Pause& pause);

}  // namespace prismopt
