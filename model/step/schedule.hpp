#pragma once

/// Pipeline schedules: for each stage, the order in which it works on microbatches and chunks.

#include "model/plan.hpp"

#include <cstdint>
#include <variant>
#include <vector>

namespace prismopt {

enum class Pass : std::uint8_t { forward, backward };

struct Task {
    Pass pass = Pass::forward;
    std::uint16_t chunk = 0;
    std::uint16_t microbatch = 0;
};

/// What a schedule is asked for: p stages, m microbatches, v chunks a stage.
struct ScheduleShape {
    Schedule schedule = Schedule::one_f_one_b;
    int stages = 1;
    int microbatches = 1;
    int chunks = 1;

    auto operator<=>(const ScheduleShape&) const = default;
};

using TaskOrders = std::vector<std::vector<Task>>;  // [stage], each in the order it runs

/// Orders of all stages, or why the schedule is not defined for the shape.
///
/// gpipe: Huang et al., arXiv 1811.06965: all forwards, then all backwards in reverse.
/// 1f1b: Narayanan et al., PipeDream-Flush, arXiv 2006.09503: p - s - 1 forwards ahead, then one forward, one backward.
/// interleaved: Narayanan et al., SC21 (arXiv 2104.04473), section 2.2: v chunks a stage, microbatches in groups of p.
std::variant<TaskOrders, Infeasible> task_orders(const ScheduleShape& shape);

/// Idle share of the ideal pipeline with equal task times, as the schedule's paper gives it: bubble over total work.
double ideal_bubble_ratio(const ScheduleShape& shape);

}  // namespace prismopt
