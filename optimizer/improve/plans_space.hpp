#pragma once

/// A space of a few plans and what lies between them.

#include "io/scenario/scenario.hpp"
#include "model/plan/plan.hpp"

#include <span>
#include <string>
#include <string_view>

namespace prismopt {

/// The values that these plans have on an axis, each once, as [space] has them: `["zero1", "none"]`.
std::string space_list(std::string_view name, std::span<const ParallelPlan> plans);

/// The scenario with a [space] of the values that these plans have, also in its text, so that results and
/// journals say what was searched. Throws InputError for a scenario that chooses more than plans, and for
/// plans that a [space] cannot state. Without runnable_by where the trainer refuses one of them.
Scenario with_space_of(const Scenario& scenario, std::span<const ParallelPlan> plans);

}  // namespace prismopt
