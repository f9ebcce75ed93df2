#pragma once

/// Feasibility rules that need no costs: one list for the spaces of searches and for single plans. Plans are
/// given as in the phase (plan_in_phase).

#include "model/job.hpp"
#include "model/plan/infeasible.hpp"
#include "model/plan/plan.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace prismopt {

/// DeepEP joins up to 8 GPUs over NVLink, and nodes over RDMA (deepseek-ai/DeepEP,
/// csrc/kernels/configs.cuh, NUM_MAX_NVL_PEERS).
inline constexpr int most_deepep_gpus = 8;

bool has_shared_experts(const Workload& workload);

/// One rule. `holds` reads the network, the cluster, the phase, the plan's number of GPUs and its axes
/// up to `last_axis` (place_of() in model/plan/plan_axes.hpp). `problem` returns the reason for a plan
/// for which the rule does not hold.
struct PlanRule {
    using Case = PlannedPhase;
    Reason reason;
    std::size_t last_axis;
    // with later axes at their defaults the rule already holds for every plan that can satisfy it; or
    // last_axis
    std::size_t early_axis;
    bool (*holds)(const Case&);
    Infeasible (*problem)(const Case&);
    /// Whether a single value can break the rule, whatever the other axes are. The
    /// rule holds for a plan of defaults.
    bool of_value = false;
};

/// Returns all rules, in the order of their last axes.
std::span<const PlanRule> plan_rules();

/// Returns the first rule that a plan, given as in the first phase, violates on this
/// cluster in any phase; or nothing.
std::optional<Infeasible> structural_problem(const ParallelPlan& plan, const Job& job);

/// Returns why no plan can have the one value in which this plan differs from a plan of defaults; or nothing.
std::optional<Infeasible> value_problem(const ParallelPlan& plan, const Job& job);

/// Returns whether the plan's schedule is defined for its stages, chunks and microbatches.
bool schedule_defined(const ParallelPlan& plan, const Phase& phase);

/// Returns whether the plan's schedule supports post-validation: the optimizer of one stage runs beside
/// another stage's weight gradients, which only schedules that split the backward pass leave to the end.
bool can_validate_later(const ParallelPlan& plan);

/// Returns whether a replica has a single microbatch.
bool one_microbatch(const ParallelPlan& plan, const Phase& phase);

}  // namespace prismopt
