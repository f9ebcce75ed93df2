#pragma once

/// A plan as text: `--design`, results files and reports.

#include "io/scenario/scenario.hpp"
#include "model/plan/plan.hpp"

#include <string>

namespace prismopt {

/// A plan from "tp=8 pp=16 v=2 ..." or, as reports write it, "tp 8 pp 16 dp 2 v 2 mb 1 interleaved ...", in the names of the axes;
/// a value that only one axis has needs no name. What is not named is taken from the axis when it has one choice, else from
/// ParallelPlan's defaults; gpus from dp or the largest choice. Throws InputError on unknown names, values that are not of the axis'
/// kind, or degrees that do not make up the GPUs.
ParallelPlan parse_design(const std::string& text, const Scenario& scenario);

/// A time as --design takes it: "300s".
std::string seconds_text(Seconds time);

/// "gpus=16 tp=8 pp=2 ..." such that parse_design() gives the plan back in a scenario with this space.
std::string design_text(const ParallelPlan& plan, const SpaceSettings& space = {});

}  // namespace prismopt
