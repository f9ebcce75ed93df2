#pragma once

/// What the user of a scenario should read before its results.

#include "io/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Notes on the scenario (scenario_notes.hpp), and on what its jobs do that is not modelled, a sentence each.
std::vector<std::string> notes_of(const Scenario& scenario);
/// Logs them as warnings.
void log_notes(const Scenario& scenario);

}  // namespace prismopt
