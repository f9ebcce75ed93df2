#pragma once

/// What a search would cost, before it is run.

#include "io/scenario.hpp"

#include <string>

namespace prismopt {

/// Counts the space (or a sample of it, where it is large), times noise-free evaluations and draws, and adds up core-hours.
/// Throws InputError where nothing that was looked at is feasible.
std::string dry_run_text(const Scenario& scenario);

}  // namespace prismopt
