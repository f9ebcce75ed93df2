#pragma once

/// Scenarios: read, started from the catalog, and changed by key. A scenario is a
/// value; functions return a new one.

#include "io/authoring/starter_scenario.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/scenario_notes.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A key of a scenario file and its value, both as written there: {"cluster.gpus", "128"},
/// {"phase[1].tokens", "\"1T\""} for the second table of [[phase]].
struct KeyValue {
    std::string key;
    std::string value;
};

/// Returns the scenario with other values in its text, which is then read and validated as a whole: results
/// files hold what was searched. Changes of members that are not in the text are lost. Throws InputError.
Scenario changed(const Scenario& scenario, const std::vector<KeyValue>& changes);

/// Returns a scenario for a network and a number of GPUs, as `prismopt init` writes it (its text is
/// Scenario::text). Throws InputError.
Scenario started(const StarterChoice& choice);

/// Returns the scenario on known nodes instead of a random sample of GPUs. `source`: a table node,factor;
/// "drawn" draws one sample from the spatial distributions.
Scenario on_nodes(Scenario scenario, const std::string& source);

}  // namespace prismopt
