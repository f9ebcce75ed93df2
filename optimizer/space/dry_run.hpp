#pragma once

/// What a search would cost, before it is run.

#include "io/scenario/scenario.hpp"
#include "optimizer/parallel/stop.hpp"

#include <string>

namespace prismopt {

/// Counts the space (or a sample of it, where it is large), times noise-free evaluations and draws, and adds up core-hours.
/// `pause` is called all the time; what it throws passes through. Throws InputError where nothing that was looked at is feasible.
std::string dry_run_text(const Scenario& scenario, const Pause& pause);

}  // namespace prismopt
