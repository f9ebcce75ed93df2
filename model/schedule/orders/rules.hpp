#pragma once

/// Rows of the schedules, by family: each file of this folder has a table.

#include "model/plan/infeasible.hpp"
#include "model/schedule/orders/tasks.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

using Bubble = std::optional<double>;  // s; empty: not known for the shape

/// One schedule.
struct ScheduleRule {
    Schedule schedule;
    ChunkMap map;
    bool splits_backward;
    std::vector<Task> (*order)(const ScheduleShape&, int stage);
    int (*most_held)(const ScheduleShape&, int stage);
    Bubble (*bubble)(const ScheduleShape&, const StageTimes&);  // null: not known
    // reason why it is undefined on several stages, or nothing; null: it is defined
    std::optional<Infeasible> (*refusal)(const ScheduleShape&);
};

inline Task task(Pass pass, int chunk, int microbatch)
{
    return {pass, static_cast<std::uint16_t>(chunk), static_cast<std::uint16_t>(microbatch)};
}

std::span<const ScheduleRule> whole_backward_rules();
std::span<const ScheduleRule> zero_bubble_rules();
std::span<const ScheduleRule> building_block_rules();
std::span<const ScheduleRule> dual_pipe_rules();

}  // namespace prismopt
