#pragma once

/// Schedules that PyTorch implements itself; others run from a table of actions. Source:
/// torch/distributed/pipelining/schedules.py.

#include "model/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace prismopt {

inline constexpr std::array torch_schedules{
    std::pair<Schedule, std::string_view>{Schedule::gpipe, "GPipe"},
    std::pair<Schedule, std::string_view>{Schedule::one_f_one_b, "1F1B"},
    std::pair<Schedule, std::string_view>{Schedule::interleaved,
                                          "Interleaved1F1B"},  // in groups of as many as there are stages
    std::pair<Schedule, std::string_view>{Schedule::zb_v, "ZBVZeroBubble"},
    std::pair<Schedule, std::string_view>{Schedule::dualpipe_v, "DualPipeV"},
};

/// PyTorch's name of the schedule; empty: it has none.
constexpr std::string_view torch_schedule(Schedule schedule)
{
    const auto* found = std::find_if(torch_schedules.begin(), torch_schedules.end(),
                                     [schedule](const auto& of) { return of.first == schedule; });
    return found == torch_schedules.end() ? std::string_view{} : found->second;
}

}  // namespace prismopt
