#include "optimizer/plan_rules.hpp"

#include "model/coupling.hpp"
#include "model/step/node_order.hpp"
#include "model/step/schedule.hpp"

#include <algorithm>

namespace prismopt {

bool tp_fits_nodes(const ParallelPlan& plan, const Cluster& cluster)
{
    const int node = cluster.gpus_per_node();
    return plan.tp <= node ? node % plan.tp == 0 : plan.tp % node == 0;
}

bool contexts_fit_nodes(const ParallelPlan& plan, const Cluster& cluster)
{
    ParallelPlan group = plan;
    group.tp *= plan.cp;
    return tp_fits_nodes(group, cluster);
}

bool contexts_divide(const ParallelPlan& plan, const Phase& phase) { return plan.cp == 1 || phase.sequence % (2 * plan.cp) == 0; }

bool experts_divide(const ParallelPlan& plan, const Workload& workload)
{
    return !workload.mixture() || (workload.experts.count % plan.ep == 0 && expert_groups_divide(plan));
}

std::int64_t sequences_at_once(const ParallelPlan& plan) { return static_cast<std::int64_t>(plan.dp) * plan.microbatch; }

bool batch_divides(const ParallelPlan& plan, const Phase& phase)
{
    return plan.dp > 0 && phase.global_batch % sequences_at_once(plan) == 0;
}

std::optional<Infeasible> undefined_schedule(const ParallelPlan& plan, const Phase& phase)
{
    return undefined(schedule_shape(plan, phase.global_batch));
}

std::int64_t chunk_count(const ParallelPlan& plan) { return network_parts(plan.schedule, plan.pp, plan.chunks); }

bool chunks_have_layers(const ParallelPlan& plan, const Workload& workload)
{
    return chunk_count(plan) <= workload.layers + (plan.split == LayerSplit::slots ? 2 : 0);
}

bool can_validate_later(const ParallelPlan& plan) { return plan.pp > 1 && splits_backward(plan.schedule); }

bool one_microbatch(const ParallelPlan& plan, const Phase& phase) { return plan.microbatches(phase.global_batch) == 1; }

namespace {

/// Context, expert and sharding groups that do not divide what they share.
std::optional<Infeasible> exchange_problem(const ParallelPlan& plan, const Phase& phase, const Scenario& scenario)
{
    const auto say = [](std::string reason, std::string detail) { return Infeasible{std::move(reason), std::move(detail), 0.0}; };
    const Workload& w = scenario.workload;
    if (!contexts_fit_nodes(plan, scenario.cluster)) {
        return say("tp*cp does not fit the nodes", "tp*cp=" + std::to_string(plan.tp * plan.cp) + " on nodes of " +
                                                       std::to_string(scenario.cluster.gpus_per_node()) + " GPUs");
    }
    if (!contexts_divide(plan, phase)) {
        return say("cp does not divide the sequence", "2*cp = " + std::to_string(2 * plan.cp) +
                                                          " must divide sequence_length = " + std::to_string(phase.sequence) +
                                                          " tokens");
    }
    const std::int64_t experts = static_cast<std::int64_t>(plan.ep) * plan.etp;
    if (experts > 1 && !w.mixture()) {
        return say("no experts to share", "ep*etp = " + std::to_string(experts) + " for a dense network");
    }
    if (!experts_divide(plan, w)) {
        return say("ep does not divide the experts or the GPUs",
                   "ep=" + std::to_string(plan.ep) + ", etp=" + std::to_string(plan.etp) + " for " +
                       std::to_string(w.experts.count) + " experts on tp*cp*dp = " + std::to_string(plan.tp * plan.cp * plan.dp) +
                       " GPUs of a stage");
    }
    if (plan.gradient_gpus() % plan.sharding_gpus() != 0) {
        return say("shard_gpus does not divide cp*dp",
                   "shard_gpus=" + std::to_string(plan.shard_gpus) + ", cp*dp = " + std::to_string(plan.gradient_gpus()));
    }
    return std::nullopt;
}

/// Of the plan as it is in one phase.
std::optional<Infeasible> problem_in_phase(const ParallelPlan& plan, const Phase& phase, const Scenario& scenario)
{
    const auto say = [](std::string reason, std::string detail) { return Infeasible{std::move(reason), std::move(detail), 0.0}; };
    const Workload& w = scenario.workload;
    if (plan.dp == 0) {
        return say("gpus not divisible by tp*cp*pp", "tp*cp*pp = " + std::to_string(plan.tp * plan.cp * plan.pp) +
                                                         " must divide gpus = " + std::to_string(phase.own.gpus));
    }
    if (!w.heads_divide(plan.tp)) {
        return say("tp does not divide the heads", "tp=" + std::to_string(plan.tp) + ", " + std::to_string(w.heads) + " heads, " +
                                                       std::to_string(w.kv_heads) + " key and value heads");
    }
    if (!tp_fits_nodes(plan, scenario.cluster)) {
        return say("tp does not fit the nodes", "tp=" + std::to_string(plan.tp) + " on nodes of " +
                                                    std::to_string(scenario.cluster.gpus_per_node()) + " GPUs");
    }
    const Accelerator& gpu = scenario.cluster.accelerator;
    if (plan.offload != Offload::none && (gpu.host_link.si <= 0.0 || gpu.host_memory_bandwidth.si <= 0.0)) {
        return say("no host to offload to", gpu.name + " names no host_link and host_memory_bandwidth");
    }
    if (auto refusal = exchange_problem(plan, phase, scenario)) {
        return refusal;
    }
    if (!batch_divides(plan, phase)) {
        return say("global batch not divisible by dp*microbatch",
                   "dp*microbatch = " + std::to_string(sequences_at_once(plan)) +
                       " must divide global_batch = " + std::to_string(phase.global_batch));
    }
    if (plan.recomputed_layers > w.layers) {
        return say("more layers recompute than there are",
                   "recomputed_layers=" + std::to_string(plan.recomputed_layers) + " of " + std::to_string(w.layers));
    }
    if (auto refusal = placement_problem(plan, scenario.cluster)) {
        return refusal;
    }
    if (auto refusal = node_problem(plan, scenario.cluster)) {
        return refusal;
    }
    if (auto refusal = undefined_schedule(plan, phase)) {
        return refusal;
    }
    if (plan.post_validation == PostValidation::on && !can_validate_later(plan)) {
        return say("nothing to validate later", "post_validation=on with pp=" + std::to_string(plan.pp) +
                                                    " schedule=" + std::string(name(plan.schedule)) +
                                                    "; it needs pp > 1 and a schedule that splits its backward");
    }
    if (!chunks_have_layers(plan, w)) {
        return say("fewer layers than chunks",
                   "pp*v = " + std::to_string(chunk_count(plan)) + " chunks, " + std::to_string(w.layers) + " layers");
    }
    return std::nullopt;
}

}  // namespace

std::optional<Infeasible> structural_problem(const ParallelPlan& plan, const Scenario& scenario)
{
    for (std::size_t i = 0; i < scenario.phases.size(); ++i) {
        const Phase& phase = scenario.phases[i];
        if (auto refusal = problem_in_phase(plan_in_phase(plan, phase), phase, scenario)) {
            refusal->detail += i > 0 ? " in phase " + std::to_string(i + 1) : "";
            return refusal;
        }
    }
    return std::nullopt;
}

}  // namespace prismopt
