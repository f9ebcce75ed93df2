#pragma once

/// A lower bound of the step that needs no program: from the stage with the most work.

#include "model/schedule/schedule.hpp"

#include <span>

namespace prismopt {

/// Number of kinds of pass that a schedule may use: they are the first ones of Pass.
int passes_of(Schedule schedule);

/// Returns a lower bound of the step, in O(p v): the longest, over stages, of a path that waits for the first microbatch, does all
/// passes of the stage, and follows the last gradient back to the first stage (docs/methods/step-graph.md, "Bounds in layers").
/// `seconds`: of passes, [(stage * v + chunk) * passes_of(schedule) + pass].
double busiest_stage(const ScheduleShape& shape, std::span<const double> seconds);

}  // namespace prismopt
