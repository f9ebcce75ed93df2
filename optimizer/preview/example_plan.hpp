#pragma once

/// Example --design for users who give none.

#include "io/scenario/scenario.hpp"

#include <string>

namespace prismopt {

/// --design of the plan with the best noise-free first objective among the checked plans of [space] (all of them, up to a million
/// tuples); empty if none of these is feasible.
std::string example_design(const Scenario& scenario);

}  // namespace prismopt
