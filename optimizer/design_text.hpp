#pragma once

/// A plan as text: `--design`, results files and reports.

#include "io/scenario.hpp"
#include "model/plan.hpp"

#include <string>

namespace prismopt {

/// A plan from "tp=8 pp=16 v=2 ..." in the names of the axes. What is not named is taken from the axis when it has one choice,
/// else from ParallelPlan's defaults; gpus from the largest choice. Throws InputError on unknown names, values that are not
/// of the axis' kind, or GPUs that tp * cp * pp does not divide.
ParallelPlan parse_design(const std::string& text, const Scenario& scenario);

/// "tp=8 pp=16 ..." such that parse_design() gives the plan back.
/// A time as --design takes it: "300s".
std::string seconds_text(Seconds time);

std::string design_text(const ParallelPlan& plan);

}  // namespace prismopt
