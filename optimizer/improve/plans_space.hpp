#pragma once

/// A space of a few plans and what lies between them.

#include "io/scenario/scenario.hpp"
#include "model/plan/plan.hpp"

#include <span>

namespace prismopt {

/// The scenario with a [space] of the values that these plans have, also in its text, so that results and
/// journals say what was searched. Throws InputError for a scenario that chooses more than plans, and for
/// plans that a [space] cannot state.
Scenario with_space_of(const Scenario& scenario, std::span<const ParallelPlan> plans);

}  // namespace prismopt
