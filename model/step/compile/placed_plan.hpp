#pragma once

/// What a plan's degrees decide in one phase on one cluster, before any cost is known. Derived once per compiled plan and passed on.

#include "model/hardware/hardware.hpp"
#include "model/plan/coupling.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/placement.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/schedule.hpp"

#include <variant>

namespace prismopt {

struct PlacedPlan {
    const ParallelPlan& plan;
    ScheduleShape shape;
    Placement placement;
    BarrierWidths widths;
};

/// Returns the placed plan, which refers to `plan`, or the reason why it cannot be placed on the cluster.
std::variant<PlacedPlan, Infeasible> place_in_phase(const ParallelPlan& plan, const Phase& phase, const Cluster& cluster);

}  // namespace prismopt
