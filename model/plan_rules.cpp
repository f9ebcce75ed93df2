#include "model/plan_rules.hpp"

#include "model/plan/coupling.hpp"
#include "model/plan/node_order.hpp"
#include "model/plan/placement.hpp"
#include "model/plan/plan_axes.hpp"
#include "model/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace prismopt {

bool has_shared_experts(const Workload& workload)
{
    bool found = false;
    workload.for_blocks([&found](const BlockDescription& block) {
        const auto* experts = std::get_if<ExpertsBlock>(&block);
        found = found || (experts != nullptr && experts->shared > 0);
    });
    return found;
}

namespace {

using Case = PlanRule::Case;

/// Groups of `gpus` consecutive GPUs fill nodes evenly.
bool fits_nodes(std::int64_t gpus, const Cluster& cluster)
{
    const int node = cluster.gpus_per_node();
    return gpus <= node ? node % gpus == 0 : gpus % node == 0;
}

Fact node_gpus(const Case& c) { return {FactKey::node_gpus, c.job.cluster.gpus_per_node()}; }

Fact stage_gpus(const Case& c)
{
    return {FactKey::stage_gpus, static_cast<std::int64_t>(c.plan.tp) * c.plan.cp * c.plan.dp};
}

std::int64_t context_gpus(const ParallelPlan& plan) { return static_cast<std::int64_t>(plan.tp) * plan.cp; }

/// Parts into which context parallelism cuts a sequence. Members that exchange keys have two parts each, for
/// equal shares of a causal mask; those that exchange heads have all tokens in attention.
int sequence_chunks(const ParallelPlan& plan) { return (plan.ring_gpus() > 1 ? 2 : 1) * plan.cp; }

std::int64_t sequences_at_once(const ParallelPlan& plan)
{
    return static_cast<std::int64_t>(plan.dp) * plan.microbatch;
}

/// A batch that replicas cannot share evenly, with the nearest ones that they can (0: there is none below).
Infeasible undivided_batch(const Case& c)
{
    const std::int64_t at_once = sequences_at_once(c.plan);
    const std::int64_t below = c.phase.global_batch / at_once * at_once;
    Infeasible why{Conflict::batch_and_replicas,
                   {{FactKey::sequences_at_once, at_once},
                    {FactKey::global_batch, c.phase.global_batch},
                    {FactKey::batch_below, below},
                    {FactKey::batch_above, below + at_once}}};
    if (c.phase.own.gpus > 0) {
        why.facts.emplace_back(FactKey::gpus, c.phase.own.gpus);
    }
    return why;
}

bool has_tables(const Case& c) { return c.job.workload.find<TablesBlock>() != nullptr; }

int chunk_count(const ParallelPlan& plan) { return network_chunks(plan.schedule, plan.pp, plan.chunks); }

/// Whether each chunk has a layer or, where these count as one, the embedding or the head.
bool fills_chunks(const Case& c)
{
    const int chunks = chunk_count(c.plan);
    switch (c.plan.split) {
        case LayerSplit::layers: return chunks <= c.job.workload.layers();
        case LayerSplit::slots:
        case LayerSplit::balanced: return chunks <= c.job.workload.layers() + 2;
        case LayerSplit::given: break;  // each of its chunks has what it is given
    }
    return true;
}

/// One chunk needs no layout.
bool has_layout(const Case& c)
{
    const auto chunks = static_cast<std::size_t>(chunk_count(c.plan));
    return c.plan.split != LayerSplit::given || chunks == 1 ||
           given_layout(chunks, c.job.workload.layouts) != nullptr;
}

/// What keeps the plan's experts from overlapping; nothing if they can. Constraints of microbatches as in
/// Megatron-Core (`arguments.py`).
std::optional<Infeasible> overlap_problem(const Case& c)
{
    const ParallelPlan& plan = c.plan;
    if (!plan.exchanges_tokens() || plan.expert_overlap == ExpertOverlap::off) {
        return std::nullopt;
    }
    const auto because = [&plan](Conflict conflict) {
        return Infeasible{conflict, {{FactKey::expert_overlap, plan.expert_overlap}}};
    };
    if (plan.expert_overlap == ExpertOverlap::shared_experts) {
        return has_shared_experts(c.job.workload)
                   ? std::nullopt
                   : std::optional(because(Conflict::overlap_without_shared_experts));
    }
    if (c.job.workload.find<ExpertsBlock>() == nullptr) {
        return because(Conflict::overlap_without_experts);
    }
    if (one_microbatch(plan, c.phase)) {
        return because(Conflict::overlap_of_one_microbatch);
    }
    if (plan.recompute == Recompute::full) {
        return because(Conflict::overlap_with_recompute);
    }
    const bool one_stage = plan.pp == 1 && plan.schedule == Schedule::one_f_one_b;
    return one_stage || facts_of(plan.schedule).groups
               ? std::nullopt
               : std::optional(because(Conflict::overlap_and_schedule));
}

/// Megatron-Core (transformer_config.py): experts under tensor parallelism need sequence parallelism.
bool shares_tokens_of_experts(const Case& c)
{
    return c.plan.tp == 1 || c.plan.shares_tokens() || c.job.workload.find<ExpertsBlock>() == nullptr;
}

bool dispatches(const Case& c)
{
    const std::int64_t members = static_cast<std::int64_t>(c.plan.ep) * c.plan.etp * c.plan.tp;
    return c.plan.dispatch != Dispatch::deepep || members <= most_deepep_gpus ||
           c.job.cluster.gpus_per_node() <= most_deepep_gpus;
}

/// As in Megatron-Core (transformer_config.py): their checkpoint would run beside the exchanges.
bool recomputes_modules(const Case& c)
{
    return !(c.plan.recompute == Recompute::selective &&
             c.plan.recompute_modules.has(Module::shared_experts) && c.plan.exchanges_tokens() &&
             c.plan.expert_overlap == ExpertOverlap::shared_experts);
}

/// Updates on the host take as long as its memory is read and written; activations only pass the link.
bool can_offload(Offload offload, const Accelerator& gpu)
{
    return offload == Offload::none ||
           (gpu.host_link.si > 0.0 && (!updates_on_host(offload) || gpu.host_memory_bandwidth.si > 0.0));
}

/// A conflict with a block, after facts about the plan.
Infeasible with_block(Conflict conflict, Facts facts, const BlockObstacle& block)
{
    if (block.obstacle.count > 0) {
        facts.emplace_back(FactKey::count, block.obstacle.count);
    }
    facts.insert(facts.end(), {{FactKey::quantity, block.obstacle.what},
                               {FactKey::block, block.block},
                               {FactKey::layer, block.layer}});
    return {conflict, std::move(facts)};
}

/// A degree that does not divide a block, with the nearest ones that divide all (0: there is none above).
Infeasible undivided_block(const Case& c)
{
    const Fact tp(FactKey::tp, c.plan.tp);
    if (c.job.workload.captured) {
        return {Conflict::tp_and_captured, {tp}};
    }
    int below = std::min(c.plan.tp, c.job.cluster.gpus);
    while (!c.job.workload.splits_by(below)) {
        --below;
    }
    int above = c.plan.tp;
    while (above <= c.job.cluster.gpus && !c.job.workload.splits_by(above)) {
        ++above;
    }
    return with_block(Conflict::tp_and_block,
                      {tp,
                       {FactKey::degree_below, below},
                       {FactKey::degree_above, above <= c.job.cluster.gpus ? above : 0}},
                      *c.job.workload.undivided(c.plan.tp));
}

Infeasible undivided_sequence(const Case& c)
{
    if (c.job.workload.captured) {
        return {Conflict::cp_and_captured, {{FactKey::cp, c.plan.cp}}};
    }
    return {c.plan.ring_gpus() > 1 ? Conflict::ring_and_sequence : Conflict::cp_and_sequence,
            {{FactKey::sequence_chunks, sequence_chunks(c.plan)}, {FactKey::sequence, c.phase.sequence}}};
}

Infeasible unshared_block(const Case& c)
{
    Facts degrees{{FactKey::tp, c.plan.tp}, {FactKey::cp, c.plan.cp}};
    if (c.plan.head_gpus() > 1) {
        degrees.emplace_back(FactKey::ulysses, c.plan.head_gpus());
    }
    return with_block(Conflict::contexts_and_block, std::move(degrees), *c.job.workload.unshared(c.plan));
}

Infeasible undivided_gpus(const Case& c)
{
    Infeasible why{Conflict::replica_and_gpus, {{FactKey::replica_gpus, context_gpus(c.plan) * c.plan.pp}}};
    if (c.phase.own.gpus > 0) {
        why.facts.emplace_back(FactKey::gpus, c.phase.own.gpus);
    }
    return why;
}

Infeasible shared_tables(const Case& c)
{
    if (c.plan.table_shards > 0) {
        return {Conflict::shards_and_stage, {{FactKey::table_shards, c.plan.table_shards}, stage_gpus(c)}};
    }
    return {Conflict::expert_shards_and_stage,
            {{FactKey::ep, c.plan.ep}, {FactKey::etp, c.plan.etp}, stage_gpus(c)}};
}

const std::array rules{
    PlanRule{Reason::tp_and_blocks, place_of(&ParallelPlan::tp), place_of(&ParallelPlan::tp),
             [](const Case& c) { return c.job.workload.splits_by(c.plan.tp); }, undivided_block, true},
    PlanRule{Reason::tp_and_nodes, place_of(&ParallelPlan::tp), place_of(&ParallelPlan::tp),
             [](const Case& c) { return fits_nodes(c.plan.tp, c.job.cluster); },
             [](const Case& c) {
                 return Infeasible{Conflict::tp_and_nodes, {{FactKey::tp, c.plan.tp}, node_gpus(c)}};
             }},
    // Members of a tensor and a context parallel group meet in each layer: both fill nodes evenly.
    PlanRule{Reason::contexts_and_nodes, place_of(&ParallelPlan::cp), place_of(&ParallelPlan::cp),
             [](const Case& c) { return fits_nodes(context_gpus(c.plan), c.job.cluster); },
             [](const Case& c) {
                 return Infeasible{Conflict::contexts_and_nodes,
                                   {{FactKey::inner_gpus, context_gpus(c.plan)}, node_gpus(c)}};
             }},
    PlanRule{Reason::contexts_and_heads, place_of(&ParallelPlan::ulysses), place_of(&ParallelPlan::ulysses),
             [](const Case& c) { return c.plan.cp % c.plan.head_gpus() == 0; },
             [](const Case& c) {
                 return Infeasible{Conflict::ulysses_and_cp,
                                   {{FactKey::ulysses, c.plan.ulysses}, {FactKey::cp, c.plan.cp}}};
             }},
    PlanRule{Reason::contexts_and_sequence, place_of(&ParallelPlan::ulysses),
             place_of(&ParallelPlan::ulysses),
             [](const Case& c) {
                 return c.plan.cp == 1 ||
                        (!c.job.workload.captured && c.phase.sequence % sequence_chunks(c.plan) == 0);
             },
             undivided_sequence},
    PlanRule{Reason::contexts_and_blocks, place_of(&ParallelPlan::ulysses), place_of(&ParallelPlan::ulysses),
             [](const Case& c) { return c.plan.cp == 1 || !c.job.workload.unshared(c.plan); },
             unshared_block},
    PlanRule{Reason::gpus_and_replica, place_of(&ParallelPlan::pp), place_of(&ParallelPlan::pp),
             [](const Case& c) { return c.plan.dp > 0; }, undivided_gpus},
    // Tensors that skip levels of a U-Net would have to cross stages.
    PlanRule{Reason::skips_and_stages, place_of(&ParallelPlan::pp), place_of(&ParallelPlan::pp),
             [](const Case& c) {
                 return c.plan.pp == 1 || c.job.workload.find<ResidualConvolutionBlock>() == nullptr;
             },
             [](const Case& c) {
                 return Infeasible{Conflict::skips_and_stages, {{FactKey::pp, c.plan.pp}}};
             }},
    PlanRule{Reason::experts_and_gpus, place_of(&ParallelPlan::ep), place_of(&ParallelPlan::ep),
             [](const Case& c) {
                 return c.job.workload.experts_divide(c.plan.ep) || !c.job.workload.is_moe();
             },
             [](const Case& c) {
                 return with_block(Conflict::ep_and_experts, {{FactKey::ep, c.plan.ep}},
                                   *c.job.workload.undivided_experts(c.plan.ep));
             },
             true},
    PlanRule{
        Reason::no_experts, place_of(&ParallelPlan::etp), place_of(&ParallelPlan::etp),
        [](const Case& c) { return c.job.workload.is_moe() || (c.plan.ep == 1 && c.plan.etp == 1); },
        [](const Case& c) {
            return Infeasible{Conflict::no_experts, {{FactKey::ep, c.plan.ep}, {FactKey::etp, c.plan.etp}}};
        },
        true},
    PlanRule{Reason::experts_and_gpus, place_of(&ParallelPlan::etp), place_of(&ParallelPlan::etp),
             [](const Case& c) { return !c.job.workload.undivided_columns(c.plan.etp); },
             [](const Case& c) {
                 return with_block(Conflict::etp_and_columns, {{FactKey::etp, c.plan.etp}},
                                   *c.job.workload.undivided_columns(c.plan.etp));
             },
             true},
    PlanRule{Reason::experts_and_gpus, place_of(&ParallelPlan::etp), place_of(&ParallelPlan::etp),
             [](const Case& c) { return !c.job.workload.is_moe() || expert_groups_divide(c.plan); },
             [](const Case& c) {
                 return Infeasible{Conflict::experts_and_stage,
                                   {{FactKey::ep, c.plan.ep}, {FactKey::etp, c.plan.etp}, stage_gpus(c)}};
             }},
    // Updates of rows are not exchanged between replicas of a table.
    PlanRule{Reason::tables_and_gpus, place_of(&ParallelPlan::table_shards),
             place_of(&ParallelPlan::table_shards),
             [](const Case& c) { return c.plan.table_shards == 0 || has_tables(c); },
             [](const Case& c) {
                 return Infeasible{Conflict::no_tables, {{FactKey::table_shards, c.plan.table_shards}}};
             },
             true},
    PlanRule{Reason::tables_and_gpus, place_of(&ParallelPlan::table_shards),
             place_of(&ParallelPlan::table_shards),
             [](const Case& c) {
                 return !has_tables(c) || c.plan.dp == 0 ||
                        c.plan.table_gpus() == context_gpus(c.plan) * c.plan.dp;
             },
             shared_tables},
    PlanRule{Reason::shards_and_replicas, place_of(&ParallelPlan::shard_gpus),
             place_of(&ParallelPlan::shard_gpus),
             [](const Case& c) { return c.plan.gradient_gpus() % c.plan.sharding_gpus() == 0; },
             [](const Case& c) {
                 return Infeasible{Conflict::shards_and_replicas,
                                   {{FactKey::shard_gpus, c.plan.shard_gpus},
                                    {FactKey::gradient_gpus, c.plan.gradient_gpus()}}};
             }},
    PlanRule{Reason::crossing, place_of(&ParallelPlan::dp_overlap), place_of(&ParallelPlan::crossing),
             [](const Case& c) { return !placement_problem(c.plan, c.job.cluster); },
             [](const Case& c) { return *placement_problem(c.plan, c.job.cluster); }, true},
    PlanRule{Reason::local_steps, place_of(&ParallelPlan::local_steps), place_of(&ParallelPlan::local_steps),
             [](const Case& c) { return c.plan.local_steps == 1 || c.job.cluster.building_gpus() > 0; },
             [](const Case& c) {
                 return Infeasible{Conflict::local_steps_in_one_building,
                                   {{FactKey::local_steps, c.plan.local_steps}}};
             },
             true},
    PlanRule{Reason::local_steps, place_of(&ParallelPlan::local_steps), place_of(&ParallelPlan::local_steps),
             [](const Case& c) { return !local_updates_problem(c.plan, c.job.cluster); },
             [](const Case& c) { return *local_updates_problem(c.plan, c.job.cluster); }},
    PlanRule{Reason::batch_and_replicas, place_of(&ParallelPlan::microbatch), place_of(&ParallelPlan::pp),
             [](const Case& c) { return c.phase.global_batch % sequences_at_once(c.plan) == 0; },
             undivided_batch},
    PlanRule{Reason::schedule_undefined, place_of(&ParallelPlan::group), place_of(&ParallelPlan::group),
             [](const Case& c) { return schedule_defined(c.plan, c.phase); },
             [](const Case& c) { return *undefined(schedule_shape(c.plan, c.phase.global_batch)); }},
    PlanRule{Reason::layers_and_chunks, place_of(&ParallelPlan::split), place_of(&ParallelPlan::split),
             fills_chunks,
             [](const Case& c) {
                 return Infeasible{Conflict::layers_and_chunks,
                                   {{FactKey::chunks, chunk_count(c.plan)},
                                    {FactKey::layers, c.job.workload.layers()}}};
             }},
    PlanRule{Reason::no_layout, place_of(&ParallelPlan::split), place_of(&ParallelPlan::split), has_layout,
             [](const Case& c) {
                 return Infeasible{Conflict::no_layout_given, {{FactKey::chunks, chunk_count(c.plan)}}};
             }},
    PlanRule{Reason::recomputed_layers, place_of(&ParallelPlan::recomputed_layers),
             place_of(&ParallelPlan::recomputed_layers),
             [](const Case& c) { return c.plan.recomputed_layers < c.job.workload.layers(); },
             [](const Case& c) {
                 return Infeasible{Conflict::recomputed_layers,
                                   {{FactKey::recomputed_layers, c.plan.recomputed_layers},
                                    {FactKey::layers, c.job.workload.layers()}}};
             },
             true},
    PlanRule{Reason::sequence_parallel, place_of(&ParallelPlan::sequence_parallel),
             place_of(&ParallelPlan::sequence_parallel), shares_tokens_of_experts,
             [](const Case& c) {
                 return Infeasible{Conflict::experts_without_shared_tokens, {{FactKey::tp, c.plan.tp}}};
             }},
    PlanRule{Reason::expert_overlap, place_of(&ParallelPlan::expert_overlap),
             place_of(&ParallelPlan::expert_overlap), [](const Case& c) { return !overlap_problem(c); },
             [](const Case& c) { return *overlap_problem(c); }},
    PlanRule{
        Reason::dispatch, place_of(&ParallelPlan::dispatch), place_of(&ParallelPlan::dispatch), dispatches,
        [](const Case& c) {
            return Infeasible{Conflict::deepep_and_nodes, {{FactKey::most, most_deepep_gpus}, node_gpus(c)}};
        }},
    PlanRule{Reason::modules, place_of(&ParallelPlan::expert_overlap),
             place_of(&ParallelPlan::expert_overlap), recomputes_modules,
             [](const Case&) { return Infeasible{Conflict::recompute_beside_exchanges}; }},
    PlanRule{Reason::no_host, place_of(&ParallelPlan::offload), place_of(&ParallelPlan::offload),
             [](const Case& c) { return can_offload(c.plan.offload, c.job.cluster.accelerator); },
             [](const Case& c) {
                 return Infeasible{updates_on_host(c.plan.offload) ? Conflict::no_host_link_or_bandwidth
                                                                   : Conflict::no_host_link,
                                   {{FactKey::accelerator, c.job.cluster.accelerator.name}}};
             },
             true},
    PlanRule{
        Reason::no_host, place_of(&ParallelPlan::offload), place_of(&ParallelPlan::offload),
        [](const Case& c) {
            return c.plan.offload != Offload::nvme || c.job.cluster.accelerator.nvme_bandwidth.si > 0.0;
        },
        [](const Case& c) {
            return Infeasible{Conflict::no_nvme, {{FactKey::accelerator, c.job.cluster.accelerator.name}}};
        },
        true},
    PlanRule{Reason::no_host, place_of(&ParallelPlan::offload), place_of(&ParallelPlan::sharding),
             [](const Case& c) {
                 return c.plan.offload != Offload::parameters || c.plan.sharding == Sharding::zero3;
             },
             [](const Case&) { return Infeasible{Conflict::parameters_not_sharded}; }},
    PlanRule{Reason::update_in_backward, place_of(&ParallelPlan::microbatch), place_of(&ParallelPlan::pp),
             [](const Case& c) {
                 return !c.job.workload.optimizer.in_backward ||
                        c.plan.microbatches(c.phase.global_batch) == 1;
             },
             [](const Case& c) {
                 return Infeasible{Conflict::update_and_microbatches,
                                   {{FactKey::microbatches, c.plan.microbatches(c.phase.global_batch)}}};
             }},
    PlanRule{Reason::no_late_validation, place_of(&ParallelPlan::post_validation),
             place_of(&ParallelPlan::post_validation),
             [](const Case& c) {
                 return c.plan.post_validation == PostValidation::off || can_validate_later(c.plan);
             },
             [](const Case& c) {
                 return Infeasible{Conflict::no_late_validation,
                                   {{FactKey::pp, c.plan.pp}, {FactKey::schedule, c.plan.schedule}}};
             }},
    // Forward passes have no gradients, no optimizer and no checkpoints.
    PlanRule{Reason::forward_only, place_of(&ParallelPlan::schedule), place_of(&ParallelPlan::schedule),
             [](const Case& c) { return c.job.workload.trains() || !splits_backward(c.plan.schedule); },
             [](const Case& c) {
                 return Infeasible{Conflict::no_backward_to_split, {{FactKey::schedule, c.plan.schedule}}};
             },
             true},
    PlanRule{Reason::forward_only, place_of(&ParallelPlan::offload), place_of(&ParallelPlan::offload),
             [](const Case& c) { return c.job.workload.trains() || c.plan.offload == Offload::none; },
             [](const Case& c) {
                 return Infeasible{Conflict::nothing_to_offload, {{FactKey::offload, c.plan.offload}}};
             },
             true},
    PlanRule{Reason::forward_only, place_of(&ParallelPlan::recompute), place_of(&ParallelPlan::recompute),
             [](const Case& c) { return c.job.workload.trains() || c.plan.recompute == Recompute::none; },
             [](const Case&) { return Infeasible{Conflict::nothing_to_recompute}; }},
    PlanRule{Reason::forward_only, place_of(&ParallelPlan::checkpoint_interval),
             place_of(&ParallelPlan::checkpoint_interval),
             [](const Case& c) { return c.job.workload.trains() || c.plan.checkpoint_interval.si == 0.0; },
             [](const Case&) { return Infeasible{Conflict::no_checkpoints}; }, true},
    PlanRule{Reason::spares_and_nodes, place_of(&ParallelPlan::spares), place_of(&ParallelPlan::spares),
             [](const Case& c) { return !node_problem(c.plan, c.job.cluster); },
             [](const Case& c) { return *node_problem(c.plan, c.job.cluster); }, true},
};

}  // namespace

std::span<const PlanRule> plan_rules() { return rules; }

std::optional<Infeasible> structural_problem(const ParallelPlan& plan, const Job& job)
{
    for (std::size_t i = 0; i < job.phases.size(); ++i) {
        const ParallelPlan here = plan_in_phase(plan, job.phases[i]);
        const Case in_phase{here, job.phases[i], job};
        for (const PlanRule& rule : rules) {
            if (!rule.holds(in_phase)) {
                Infeasible refusal = rule.problem(in_phase);
                refusal.phase = static_cast<int>(i) + 1;
                return refusal;
            }
        }
    }
    return std::nullopt;
}

std::optional<Infeasible> value_problem(const ParallelPlan& plan, const Job& job)
{
    const Phase no_phase;
    const Case alone{plan, no_phase, job};
    for (const PlanRule& rule : rules) {
        if (rule.of_value && !rule.holds(alone)) {
            return rule.problem(alone);
        }
    }
    return std::nullopt;
}

bool schedule_defined(const ParallelPlan& plan, const Phase& phase)
{
    return !undefined(schedule_shape(plan, phase.global_batch));
}

bool can_validate_later(const ParallelPlan& plan) { return plan.pp > 1 && splits_backward(plan.schedule); }

bool one_microbatch(const ParallelPlan& plan, const Phase& phase)
{
    return plan.microbatches(phase.global_batch) == 1;
}

}  // namespace prismopt
