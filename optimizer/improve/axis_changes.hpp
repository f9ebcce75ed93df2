#pragma once

/// Plans that differ from a given one in the values of some axes, on the same number of GPUs: values to try,
/// and what a value forces on other axes.

#include "model/plan/plan.hpp"
#include "model/plan/plan_axes.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

struct NoiseFree;
struct Problem;
struct Scenario;

/// Values that people try, whatever the space lists.
SpaceSettings usual_values();

/// Values near a plan: of each axis those that the space lists and, beside them, those that the software
/// offers or, where the catalog does not say, usual ones. `trainer`: whose rules refuse what it does not run;
/// empty: only what any software has is added.
SpaceSettings values_to_try(const Scenario& scenario, const Problem& problem, std::string_view trainer);

/// A value that a plan does not have on one axis.
struct AxisValue {
    std::string_view axis;
    std::function<void(ParallelPlan&)> set;
    // Whether it changes anything in such plans; null: in all.
    bool (*matters)(const ParallelPlan&) = nullptr;
};
std::vector<AxisValue> other_values(const ParallelPlan& plan, const SpaceSettings& values);

/// Returns the plan with these values and as many replicas as its GPUs then have, and with what the
/// values force on other axes: the chunks of a schedule, the schedule of a number of chunks, selective
/// recompute for a set of modules, no leftovers of what was given up. Nothing where replicas are not
/// whole, or a value changes nothing.
std::optional<ParallelPlan> with_values(const ParallelPlan& plan, std::span<const AxisValue* const> values);

/// The plan with as many replicas as these GPUs have; nothing where they are not whole.
std::optional<ParallelPlan> on_gpus(int gpus, ParallelPlan plan);

/// Plans without a structural problem that differ from `plan` in the value of one
/// axis, or in their number of GPUs.
struct ChangedPlan {
    ParallelPlan plan;
    std::string_view axis;
};
std::vector<ChangedPlan> changed_plans(const ParallelPlan& plan, const SpaceSettings& values,
                                       const Problem& problem);

/// The values in which a plan differs from another, as --design reads them: "schedule=interleaved", "v=2";
/// without those that change nothing in it.
std::vector<std::string> changed_values(const ParallelPlan& from, const ParallelPlan& to);

/// Whether the space lists all values in which `to` differs from `from`.
bool lists_changes(const SpaceSettings& space, const ParallelPlan& from, const ParallelPlan& to);

/// Lower bound of what the study minimises first, of the objectives that depend on time; the mean training
/// time where none of these has a bound: fewer GPUs or less memory are no advice to a plan that does not fit.
double least_value(const NoiseFree& bound, const std::vector<std::string>& objectives);

}  // namespace prismopt
