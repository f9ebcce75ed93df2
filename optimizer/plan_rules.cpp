#include "optimizer/plan_rules.hpp"

#include "model/coupling.hpp"
#include "model/phase_plan.hpp"
#include "model/step/node_order.hpp"
#include "model/step/schedule.hpp"

#include <algorithm>

namespace prismopt {

bool tp_fits_nodes(const ParallelPlan& plan, const Cluster& cluster)
{
    const int node = cluster.gpus_per_node();
    return plan.tp <= node ? node % plan.tp == 0 : plan.tp % node == 0;
}

bool tp_divides_heads(const ParallelPlan& plan, const Workload& workload)
{
    return workload.heads % plan.tp == 0 && (workload.kv_heads % plan.tp == 0 || plan.tp % workload.kv_heads == 0);
}

bool contexts_fit_nodes(const ParallelPlan& plan, const Cluster& cluster)
{
    ParallelPlan group = plan;
    group.tp *= plan.cp;
    return tp_fits_nodes(group, cluster);
}

bool contexts_divide(const ParallelPlan& plan, const std::vector<Phase>& phases)
{
    return std::all_of(phases.begin(), phases.end(), [&plan](const Phase& phase) {
        const int cp = plan_in_phase(plan, phase).cp;
        return cp == 1 || phase.sequence % (2 * cp) == 0;
    });
}

bool experts_divide(const ParallelPlan& plan, const Workload& workload)
{
    return !workload.mixture() || (workload.experts.count % plan.ep == 0 && expert_groups_divide(plan));
}

std::int64_t sequences_at_once(const ParallelPlan& plan) { return static_cast<std::int64_t>(plan.dp) * plan.microbatch; }

bool batch_divides(const ParallelPlan& plan, const std::vector<Phase>& phases)
{
    return plan.dp > 0 && std::all_of(phases.begin(), phases.end(), [&plan](const Phase& phase) {
               const ParallelPlan here = plan_in_phase(plan, phase);
               return here.dp > 0 && phase.global_batch % sequences_at_once(here) == 0;
           });
}

std::optional<Infeasible> undefined_schedule(const ParallelPlan& plan, const std::vector<Phase>& phases)
{
    for (const Phase& phase : phases) {
        if (auto refusal = undefined(schedule_shape(plan_in_phase(plan, phase), phase.global_batch))) {
            return refusal;
        }
    }
    return std::nullopt;
}

std::int64_t chunk_count(const ParallelPlan& plan) { return network_parts(plan.schedule, plan.pp, plan.chunks); }

bool chunks_have_layers(const ParallelPlan& plan, const Workload& workload)
{
    return chunk_count(plan) <= workload.layers + (plan.split == LayerSplit::slots ? 2 : 0);
}

bool can_validate_later(const ParallelPlan& plan) { return plan.pp > 1 && splits_backward(plan.schedule); }

bool one_microbatch(const ParallelPlan& plan, const std::vector<Phase>& phases)
{
    return std::all_of(phases.begin(), phases.end(),
                       [&plan](const Phase& phase) { return plan_in_phase(plan, phase).microbatches(phase.global_batch) == 1; });
}

namespace {

/// Context, expert and sharding groups that do not divide what they share.
std::optional<Infeasible> exchange_problem(const ParallelPlan& plan, const Scenario& scenario)
{
    const auto say = [](std::string reason, std::string detail) { return Infeasible{std::move(reason), std::move(detail), 0.0}; };
    const Workload& w = scenario.workload;
    if (!contexts_fit_nodes(plan, scenario.cluster)) {
        return say("tp*cp does not fit the nodes", "tp*cp=" + std::to_string(plan.tp * plan.cp) + " on nodes of " +
                                                       std::to_string(scenario.cluster.gpus_per_node()) + " GPUs");
    }
    for (const Phase& phase : scenario.phases) {
        if (const ParallelPlan here = plan_in_phase(plan, phase); !contexts_fit_nodes(here, scenario.cluster)) {
            return say("tp*cp does not fit the nodes", "tp*cp=" + std::to_string(here.tp * here.cp) +
                                                           " in a phase, on nodes of " +
                                                           std::to_string(scenario.cluster.gpus_per_node()) + " GPUs");
        }
    }
    if (!contexts_divide(plan, scenario.phases)) {
        return say("cp does not divide the sequence", "2*cp = " + std::to_string(2 * plan.cp) +
                                                          " must divide every phase's sequence_length (" +
                                                          std::to_string(scenario.phases.front().sequence) + " tokens)");
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

}  // namespace

std::optional<Infeasible> structural_problem(const ParallelPlan& plan, const Scenario& scenario)
{
    const auto say = [](std::string reason, std::string detail) { return Infeasible{std::move(reason), std::move(detail), 0.0}; };
    const Workload& w = scenario.workload;
    if (!tp_divides_heads(plan, w)) {
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
    if (auto refusal = exchange_problem(plan, scenario)) {
        return refusal;
    }
    if (!batch_divides(plan, scenario.phases)) {
        return say("global batch not divisible by dp*microbatch", "dp*microbatch = " + std::to_string(sequences_at_once(plan)) +
                                                                      " must divide every phase's global_batch (" +
                                                                      std::to_string(scenario.phases.front().global_batch) + ")");
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
    if (auto refusal = undefined_schedule(plan, scenario.phases)) {
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

}  // namespace prismopt
