#pragma once

/// A plan as text: `--design`, results files and reports.

#include "io/base/input_error.hpp"
#include "io/scenario/scenario.hpp"
#include "model/plan/infeasible.hpp"
#include "model/plan/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Degrees of parallelism that the number of GPUs does not allow: as a value, a plan
/// infeasible for Reason::gpus_and_replica.
class DegreesDoNotFit : public InputError {
public:
    explicit DegreesDoNotFit(Infeasible why);

    const Infeasible& as_infeasible() const { return why_; }

private:
    Infeasible why_;
};

/// Parses a plan from "tp=8 pp=16 v=2 ..." or, as reports print it, "tp 8 pp 16 dp 2 v 2 mb 1 interleaved
/// ...", with the names of the axes. A value that only one axis has needs no name. Axes that are not named
/// take their only choice or, if they have several, the default of ParallelPlan; gpus follows from dp or is
/// the largest choice. Throws InputError on unknown names, values of the wrong kind, and DegreesDoNotFit.
ParallelPlan parse_design(const std::string& text, const Scenario& scenario);

/// Whether such a text states the axis of this name ("order").
bool states_axis(const std::string& text, const std::string& axis, const Scenario& scenario);

/// Names that a plan of the scenario may have values for: its axes, "gpus",
/// "dp", and the choices of the study.
std::vector<std::string> axis_names(const Scenario& scenario);

/// A time in the notation of --design: "300s".
std::string seconds_text(Seconds time);

/// The plan as "gpus=16 tp=8 pp=2 ...", such that parse_design() restores it in a scenario with this space.
std::string design_text(const ParallelPlan& plan, const SpaceSettings& space = {});

/// The value that a plan has on one axis, also where it is the default: "spares=2"; "spares as in
/// [reliability]" where the plan leaves it to that section.
std::string axis_text(std::string_view axis, const ParallelPlan& plan);

}  // namespace prismopt
