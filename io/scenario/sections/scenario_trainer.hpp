#pragma once

/// A scenario whose plans one trainer can run.

#include "io/scenario/scenario.hpp"

#include <string>

namespace prismopt {

/// The scenario with `runnable_by = "TRAINER"` in [search], also in its text: whatever reads that later (a journal, a results file)
/// finds the same study. Throws InputError for an unknown trainer and where the scenario names another.
Scenario with_trainer(const Scenario& scenario, const std::string& trainer);

}  // namespace prismopt
