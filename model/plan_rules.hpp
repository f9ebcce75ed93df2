#pragma once

/// What makes a plan infeasible before any cost is computed: one list of rules, for the spaces of searches and for single plans.
/// Plans are as they are in the phase (plan_in_phase).

#include "model/hardware/hardware.hpp"
#include "model/network/workload.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace prismopt {

/// One rule. `holds` reads the network, the cluster, the phase, and of the plan the number of GPUs and the axes up to `last_axis`
/// (place_of() in model/plan/plan_axes.hpp); `problem` says why, of a plan for which it does not hold.
struct PlanRule {
    struct Case {
        const ParallelPlan& plan;
        const Phase& phase;
        const Workload& workload;
        const Cluster& cluster;
    };
    Reason reason;
    std::size_t last_axis;
    std::size_t
        early_axis;  // from which on, with the later axes at their defaults, it holds wherever it can hold at all; or last_axis
    bool (*holds)(const Case&);
    Infeasible (*problem)(const Case&);
};

/// In the order of their last axes.
std::span<const PlanRule> plan_rules();

/// Why a plan, as it is in the first phase, cannot run on this cluster in all phases: the first rule that does not hold.
std::optional<Infeasible> structural_problem(const ParallelPlan& plan, const std::vector<Phase>& phases, const Workload& workload,
                                             const Cluster& cluster);

/// Whether the plan's schedule exists for its stages, chunks and microbatches.
bool schedule_defined(const ParallelPlan& plan, const Phase& phase);

/// The optimizer of one stage runs beside another's weight gradients, which only schedules that split the backward leave to the end.
bool can_validate_later(const ParallelPlan& plan);

bool one_microbatch(const ParallelPlan& plan, const Phase& phase);

}  // namespace prismopt
