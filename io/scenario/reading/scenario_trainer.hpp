#pragma once

/// Restricts a scenario to plans that a trainer can run.

#include "io/scenario/scenario.hpp"

#include <string>

namespace prismopt {

/// The scenario with `runnable_by = "TRAINER"` in [search], also in its text, so that journals
/// and results files identify the same study. Throws InputError for an unknown trainer, or if
/// the scenario names another one.
Scenario with_trainer(const Scenario& scenario, const std::string& trainer);

}  // namespace prismopt
