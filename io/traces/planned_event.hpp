#pragma once

#include <string_view>

namespace prismopt {

/// Whether an event of a node is planned by its operators, and so no failure: maintenance, updates, tests. Of words of its reason and
/// state (Slurm's MAINT); a reason that states a failure is none ("update failed", "unscheduled maintenance").
bool is_planned_event(std::string_view reason, std::string_view state);

}  // namespace prismopt
