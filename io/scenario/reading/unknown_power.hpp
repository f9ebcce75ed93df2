#pragma once

/// Changes of an accelerator for which no power is known.

#include "io/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// What makes the accelerator of a scenario another one than that whose power is known: knobs by their names, and
/// "accelerator_override" where it gives a higher peak or memory bandwidth than the catalog's, and no power.
std::vector<std::string> changes_of_unknown_power(const Scenario& scenario);

/// Says that energy and carbon ignore these changes; empty: there are none.
std::string energy_note(const Scenario& scenario);

}  // namespace prismopt
