#pragma once

/// A plan to show to who has named none.

#include "io/scenario/scenario.hpp"

#include <string>

namespace prismopt {

/// --design of the first objective's best plan without noise among those of [space] that are looked at (all, of up to a million tuples); empty
/// where none of these is feasible.
std::string example_design(const Scenario& scenario);

}  // namespace prismopt
