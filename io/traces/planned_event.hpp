#pragma once

#include <string_view>

namespace prismopt {

/// Whether an event of a node is planned by its operators, and so no failure: maintenance, updates, tests.
/// Recognised by whole words of its reason and state (Slurm's MAINT). A reason that states a failure wins:
/// "Xid 79 after driver update", "unscheduled maintenance".
bool is_planned_event(std::string_view reason, std::string_view state);

}  // namespace prismopt
