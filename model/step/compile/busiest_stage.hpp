#pragma once

/// Lower bounds of the step that need no program: from the stage with the most work.

#include "model/schedule/schedule.hpp"
#include "model/step/graph/slowest_group.hpp"

#include <span>
#include <vector>

namespace prismopt {

/// Number of kinds of pass that a schedule may use: they are the first ones of Pass.
int passes_of(Schedule schedule);

/// Returns a lower bound of the step, in O(p v): the longest, over stages, of a path that waits for the first
/// microbatch, does all passes of the stage, and follows the last gradient back to the first stage
/// (docs/methods/step-graph.md, "Bounds of sub-spaces and plans").
/// `seconds`: of passes, [(stage * v + chunk) * passes_of(schedule) + pass].
double busiest_stage(const ScheduleShape& shape, std::span<const double> seconds);

/// Returns such paths, of up to 16 stages; none for schedules that pair passes. `compute`: of passes, which a
/// factor with the mean `factor` scales; `communication`: what comes on top.
std::vector<StagePath> busy_stage_paths(const ScheduleShape& shape, std::span<const double> compute,
                                        std::span<const double> communication, double factor);

}  // namespace prismopt
