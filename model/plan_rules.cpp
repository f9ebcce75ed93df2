#include "model/plan_rules.hpp"

#include "model/plan/coupling.hpp"
#include "model/plan/node_order.hpp"
#include "model/plan/placement.hpp"
#include "model/plan/plan_axes.hpp"
#include "model/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

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

/// "key=value, key=value, ..."
std::string pairs(std::initializer_list<std::pair<const char*, std::int64_t>> values)
{
    std::string text;
    for (const auto& [key, value] : values) {
        text += (text.empty() ? "" : ", ") + std::string(key) + "=" + std::to_string(value);
    }
    return text;
}

/// Groups of `gpus` consecutive GPUs fill nodes evenly.
bool fits_nodes(std::int64_t gpus, const Cluster& cluster)
{
    const int node = cluster.gpus_per_node();
    return gpus <= node ? node % gpus == 0 : gpus % node == 0;
}

std::string nodes_text(const Cluster& cluster)
{
    return " on nodes of " + std::to_string(cluster.gpus_per_node()) + " GPUs";
}

std::int64_t context_gpus(const ParallelPlan& plan) { return static_cast<std::int64_t>(plan.tp) * plan.cp; }

/// Parts into which context parallelism cuts a sequence. Members that exchange keys have two parts each, for equal shares of a
/// causal mask; those that exchange heads have all tokens in attention.
int sequence_parts(const ParallelPlan& plan) { return (plan.ring_gpus() > 1 ? 2 : 1) * plan.cp; }

std::int64_t sequences_at_once(const ParallelPlan& plan)
{
    return static_cast<std::int64_t>(plan.dp) * plan.microbatch;
}

/// The nearest batches of which each replica gets whole microbatches.
std::string batches_near(int batch, std::int64_t at_once)
{
    const std::int64_t below = batch / at_once * at_once;
    return below > 0 ? std::to_string(below) + " or " + std::to_string(below + at_once)
                     : std::to_string(at_once);
}

bool has_tables(const Case& c) { return c.job.workload.find<TablesBlock>() != nullptr; }

int chunk_count(const ParallelPlan& plan) { return network_parts(plan.schedule, plan.pp, plan.chunks); }

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

/// What keeps the plan's experts from overlapping; empty: nothing. Constraints of microbatches as in Megatron-Core
/// (`arguments.py`).
std::string overlap_problem(const Case& c)
{
    const ParallelPlan& plan = c.plan;
    if (!plan.exchanges_tokens() || plan.expert_overlap == ExpertOverlap::off) {
        return "";
    }
    if (plan.expert_overlap == ExpertOverlap::shared_experts) {
        return has_shared_experts(c.job.workload) ? "" : "needs shared experts, and the network has none";
    }
    if (c.job.workload.find<ExpertsBlock>() == nullptr) {
        return "needs experts, and the network has none";
    }
    if (one_microbatch(plan, c.phase)) {
        return "needs two microbatches or more";
    }
    if (plan.recompute == Recompute::full) {
        return "cannot be combined with recompute=full";
    }
    const bool one_stage = plan.pp == 1 && plan.schedule == Schedule::one_f_one_b;
    return one_stage || facts_of(plan.schedule).groups ? "" : "needs schedule=interleaved, or pp=1";
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

/// The nearest degrees that divide all blocks.
std::string other_degrees(const Case& c)
{
    if (c.job.workload.captured) {
        return "write 1: the file of a captured network does not say how operators split";
    }
    int below = std::min(c.plan.tp, c.job.cluster.gpus);
    while (!c.job.workload.splits_by(below)) {
        --below;
    }
    int above = c.plan.tp;
    while (above <= c.job.cluster.gpus && !c.job.workload.splits_by(above)) {
        ++above;
    }
    return "try " + std::to_string(below) +
           (above <= c.job.cluster.gpus ? " or " + std::to_string(above) : "");
}

/// What `etp` does not divide: "1408 columns of an expert of ..."; empty if it divides all experts.
std::string undivided_columns(const Workload& workload, int etp)
{
    for (const LayerDescription& layer : workload.kinds) {
        for (const BlockDescription& block : layer.blocks) {
            const auto* experts = std::get_if<ExpertsBlock>(&block);
            if (experts != nullptr && experts->inner % etp != 0) {
                return std::to_string(experts->inner) + " columns of an expert of " +
                       block_text(layer, block);
            }
        }
    }
    return "";
}

const std::array rules{
    PlanRule{Reason::tp_and_blocks, place_of(&ParallelPlan::tp), place_of(&ParallelPlan::tp),
             [](const Case& c) { return c.job.workload.splits_by(c.plan.tp); },
             [](const Case& c) {
                 return Infeasible{Reason::tp_and_blocks, pairs({{"tp", c.plan.tp}}) + ", " +
                                                              c.job.workload.undivided_text(c.plan.tp)};
             },
             other_degrees},
    PlanRule{
        Reason::tp_and_nodes, place_of(&ParallelPlan::tp), place_of(&ParallelPlan::tp),
        [](const Case& c) { return fits_nodes(c.plan.tp, c.job.cluster); },
        [](const Case& c) {
            return Infeasible{Reason::tp_and_nodes, pairs({{"tp", c.plan.tp}}) + nodes_text(c.job.cluster)};
        }},
    // Members of a tensor and a context parallel group meet in each layer: both fill nodes evenly.
    PlanRule{Reason::contexts_and_nodes, place_of(&ParallelPlan::cp), place_of(&ParallelPlan::cp),
             [](const Case& c) { return fits_nodes(context_gpus(c.plan), c.job.cluster); },
             [](const Case& c) {
                 return Infeasible{Reason::contexts_and_nodes,
                                   pairs({{"tp*cp", context_gpus(c.plan)}}) + nodes_text(c.job.cluster)};
             }},
    PlanRule{Reason::contexts_and_heads, place_of(&ParallelPlan::ulysses), place_of(&ParallelPlan::ulysses),
             [](const Case& c) { return c.plan.cp % c.plan.head_gpus() == 0; },
             [](const Case& c) {
                 return Infeasible{Reason::contexts_and_heads,
                                   pairs({{"ulysses", c.plan.ulysses}, {"cp", c.plan.cp}})};
             }},
    PlanRule{Reason::contexts_and_sequence, place_of(&ParallelPlan::ulysses),
             place_of(&ParallelPlan::ulysses),
             [](const Case& c) {
                 return c.plan.cp == 1 ||
                        (!c.job.workload.captured && c.phase.sequence % sequence_parts(c.plan) == 0);
             },
             [](const Case& c) {
                 if (c.job.workload.captured) {
                     return Infeasible{Reason::contexts_and_sequence,
                                       pairs({{"cp", c.plan.cp}}) + " for a captured network"};
                 }
                 return Infeasible{
                     Reason::contexts_and_sequence,
                     (c.plan.ring_gpus() > 1 ? "2*cp = " : "cp = ") + std::to_string(sequence_parts(c.plan)) +
                         " must divide sequence_length = " + std::to_string(c.phase.sequence) + " tokens"};
             }},
    PlanRule{Reason::contexts_and_blocks, place_of(&ParallelPlan::ulysses), place_of(&ParallelPlan::ulysses),
             [](const Case& c) { return c.plan.cp == 1 || c.job.workload.unshared_text(c.plan).empty(); },
             [](const Case& c) {
                 const std::string heads =
                     c.plan.head_gpus() > 1
                         ? pairs({{"tp", c.plan.tp}, {"cp", c.plan.cp}, {"ulysses", c.plan.head_gpus()}})
                         : pairs({{"tp", c.plan.tp}, {"cp", c.plan.cp}});
                 return Infeasible{Reason::contexts_and_blocks,
                                   heads + ", " + c.job.workload.unshared_text(c.plan)};
             }},
    PlanRule{Reason::gpus_and_replica, place_of(&ParallelPlan::pp), place_of(&ParallelPlan::pp),
             [](const Case& c) { return c.plan.dp > 0; },
             [](const Case& c) {
                 const std::int64_t replica = context_gpus(c.plan) * c.plan.pp;
                 return Infeasible{Reason::gpus_and_replica,
                                   "tp*cp*pp = " + std::to_string(replica) + " must divide the GPUs" +
                                       (c.phase.own.gpus > 0 ? " = " + std::to_string(c.phase.own.gpus)
                                                             : "")};
             }},
    // Tensors that skip levels of a U-Net would have to cross stages.
    PlanRule{Reason::skips_and_stages, place_of(&ParallelPlan::pp), place_of(&ParallelPlan::pp),
             [](const Case& c) {
                 return c.plan.pp == 1 || c.job.workload.find<ResidualConvolutionBlock>() == nullptr;
             },
             [](const Case& c) {
                 return Infeasible{Reason::skips_and_stages,
                                   pairs({{"pp", c.plan.pp}}) +
                                       " for a network with residual_convolution blocks"};
             }},
    PlanRule{
        Reason::experts_and_gpus, place_of(&ParallelPlan::ep), place_of(&ParallelPlan::ep),
        [](const Case& c) { return c.job.workload.experts_divide(c.plan.ep) || !c.job.workload.mixture(); },
        [](const Case& c) {
            return Infeasible{Reason::experts_and_gpus, pairs({{"ep", c.plan.ep}}) + ", " +
                                                            c.job.workload.undivided_experts_text(c.plan.ep)};
        },
        [](const Case&) { return std::string("write a divisor of the number of experts"); }},
    PlanRule{Reason::no_experts, place_of(&ParallelPlan::etp), place_of(&ParallelPlan::etp),
             [](const Case& c) { return c.job.workload.mixture() || (c.plan.ep == 1 && c.plan.etp == 1); },
             [](const Case& c) {
                 return Infeasible{Reason::no_experts,
                                   pairs({{"ep", c.plan.ep}, {"etp", c.plan.etp}}) + " for a dense network"};
             },
             [](const Case&) { return std::string("write 1, or remove the axis"); }},
    PlanRule{Reason::experts_and_gpus, place_of(&ParallelPlan::etp), place_of(&ParallelPlan::etp),
             [](const Case& c) { return undivided_columns(c.job.workload, c.plan.etp).empty(); },
             [](const Case& c) {
                 return Infeasible{Reason::experts_and_gpus,
                                   pairs({{"etp", c.plan.etp}}) + ", " +
                                       undivided_columns(c.job.workload, c.plan.etp)};
             },
             [](const Case&) { return std::string("write a divisor of the number of columns"); }},
    PlanRule{Reason::experts_and_gpus, place_of(&ParallelPlan::etp), place_of(&ParallelPlan::etp),
             [](const Case& c) { return !c.job.workload.mixture() || expert_groups_divide(c.plan); },
             [](const Case& c) {
                 return Infeasible{Reason::experts_and_gpus,
                                   pairs({{"ep", c.plan.ep}, {"etp", c.plan.etp}}) + " on tp*cp*dp = " +
                                       std::to_string(context_gpus(c.plan) * c.plan.dp) + " GPUs per stage"};
             }},
    // Updates of rows are not exchanged between replicas of a table.
    PlanRule{Reason::tables_and_gpus, place_of(&ParallelPlan::table_shards),
             place_of(&ParallelPlan::table_shards),
             [](const Case& c) { return c.plan.table_shards == 0 || has_tables(c); },
             [](const Case& c) {
                 return Infeasible{Reason::tables_and_gpus, pairs({{"table_shards", c.plan.table_shards}}) +
                                                                " for a network without embedding tables"};
             },
             [](const Case&) { return std::string("write 0, or remove the axis"); }},
    PlanRule{
        Reason::tables_and_gpus, place_of(&ParallelPlan::table_shards), place_of(&ParallelPlan::table_shards),
        [](const Case& c) {
            return !has_tables(c) || c.plan.dp == 0 ||
                   c.plan.table_gpus() == context_gpus(c.plan) * c.plan.dp;
        },
        [](const Case& c) {
            const std::string shards =
                c.plan.table_shards > 0
                    ? pairs({{"table_shards", c.plan.table_shards}})
                    : pairs({{"ep", c.plan.ep}, {"etp", c.plan.etp}}) + " and no table_shards";
            return Infeasible{Reason::tables_and_gpus, shards + ", but tables are shared by all tp*cp*dp = " +
                                                           std::to_string(context_gpus(c.plan) * c.plan.dp) +
                                                           " GPUs of a stage; write that as table_shards"};
        }},
    PlanRule{Reason::shards_and_replicas, place_of(&ParallelPlan::shard_gpus),
             place_of(&ParallelPlan::shard_gpus),
             [](const Case& c) { return c.plan.gradient_gpus() % c.plan.sharding_gpus() == 0; },
             [](const Case& c) {
                 return Infeasible{Reason::shards_and_replicas,
                                   pairs({{"shard_gpus", c.plan.shard_gpus}}) +
                                       ", cp*dp = " + std::to_string(c.plan.gradient_gpus())};
             }},
    PlanRule{Reason::crossing, place_of(&ParallelPlan::dp_overlap), place_of(&ParallelPlan::crossing),
             [](const Case& c) { return !placement_problem(c.plan, c.job.cluster); },
             [](const Case& c) { return *placement_problem(c.plan, c.job.cluster); },
             [](const Case&) { return std::string("remove the axis, or describe the buildings"); }},
    PlanRule{Reason::local_steps, place_of(&ParallelPlan::local_steps), place_of(&ParallelPlan::local_steps),
             [](const Case& c) { return c.plan.local_steps == 1 || c.job.cluster.building_gpus() > 0; },
             [](const Case& c) {
                 return Infeasible{Reason::local_steps, pairs({{"local_steps", c.plan.local_steps}}) +
                                                            " on a cluster of one building"};
             },
             [](const Case&) {
                 return std::string("give the tier between buildings an aggregate, or remove the axis");
             }},
    PlanRule{Reason::local_steps, place_of(&ParallelPlan::local_steps), place_of(&ParallelPlan::local_steps),
             [](const Case& c) { return !local_updates_problem(c.plan, c.job.cluster); },
             [](const Case& c) { return *local_updates_problem(c.plan, c.job.cluster); }},
    PlanRule{Reason::batch_and_replicas, place_of(&ParallelPlan::microbatch), place_of(&ParallelPlan::pp),
             [](const Case& c) { return c.phase.global_batch % sequences_at_once(c.plan) == 0; },
             [](const Case& c) {
                 return Infeasible{Reason::batch_and_replicas,
                                   "dp*microbatch = " + std::to_string(sequences_at_once(c.plan)) +
                                       " must divide global_batch = " + std::to_string(c.phase.global_batch) +
                                       (c.phase.own.gpus > 0
                                            ? " of the phase on " + std::to_string(c.phase.own.gpus) + " GPUs"
                                            : "") +
                                       "; try " +
                                       batches_near(c.phase.global_batch, sequences_at_once(c.plan))};
             }},
    PlanRule{Reason::schedule_undefined, place_of(&ParallelPlan::group), place_of(&ParallelPlan::group),
             [](const Case& c) { return schedule_defined(c.plan, c.phase); },
             [](const Case& c) { return *undefined(schedule_shape(c.plan, c.phase.global_batch)); }},
    PlanRule{Reason::layers_and_chunks, place_of(&ParallelPlan::split), place_of(&ParallelPlan::split),
             fills_chunks,
             [](const Case& c) {
                 return Infeasible{Reason::layers_and_chunks,
                                   "pp*v = " + std::to_string(chunk_count(c.plan)) + " chunks, " +
                                       std::to_string(c.job.workload.layers()) + " layers"};
             }},
    PlanRule{Reason::no_layout, place_of(&ParallelPlan::split), place_of(&ParallelPlan::split), has_layout,
             [](const Case& c) {
                 return Infeasible{Reason::no_layout, "split=given, and no layout has pp*v = " +
                                                          std::to_string(chunk_count(c.plan)) + " chunks"};
             }},
    PlanRule{Reason::recomputed_layers, place_of(&ParallelPlan::recomputed_layers),
             place_of(&ParallelPlan::recomputed_layers),
             [](const Case& c) { return c.plan.recomputed_layers < c.job.workload.layers(); },
             [](const Case& c) {
                 return Infeasible{Reason::recomputed_layers,
                                   pairs({{"recomputed_layers", c.plan.recomputed_layers}}) + " of " +
                                       std::to_string(c.job.workload.layers())};
             },
             [](const Case&) { return std::string("write 0 for all layers, or a smaller number"); }},
    PlanRule{Reason::sequence_parallel, place_of(&ParallelPlan::sequence_parallel),
             place_of(&ParallelPlan::sequence_parallel), shares_tokens_of_experts,
             [](const Case& c) {
                 return Infeasible{Reason::sequence_parallel, "sequence_parallel=off with " +
                                                                  pairs({{"tp", c.plan.tp}}) +
                                                                  " and experts, whose tokens are shared"};
             }},
    PlanRule{Reason::expert_overlap, place_of(&ParallelPlan::expert_overlap),
             place_of(&ParallelPlan::expert_overlap),
             [](const Case& c) { return overlap_problem(c).empty(); },
             [](const Case& c) {
                 return Infeasible{Reason::expert_overlap,
                                   "expert_overlap=" + std::string(name(c.plan.expert_overlap)) + " " +
                                       overlap_problem(c)};
             }},
    PlanRule{Reason::dispatch, place_of(&ParallelPlan::dispatch), place_of(&ParallelPlan::dispatch),
             dispatches,
             [](const Case& c) {
                 return Infeasible{Reason::dispatch, "dispatch=deepep has nodes of up to " +
                                                         std::to_string(most_deepep_gpus) + " GPUs, not of " +
                                                         std::to_string(c.job.cluster.gpus_per_node()) +
                                                         "; try hybridep"};
             }},
    PlanRule{
        Reason::modules, place_of(&ParallelPlan::expert_overlap), place_of(&ParallelPlan::expert_overlap),
        recomputes_modules,
        [](const Case&) {
            return Infeasible{
                Reason::modules,
                "shared_experts cannot be recomputed with expert_overlap=shared-experts, which runs them "
                "beside the exchanges"};
        }},
    PlanRule{Reason::no_host, place_of(&ParallelPlan::offload), place_of(&ParallelPlan::offload),
             [](const Case& c) { return can_offload(c.plan.offload, c.job.cluster.accelerator); },
             [](const Case& c) {
                 const std::string bandwidth =
                     updates_on_host(c.plan.offload) ? " or no host_memory_bandwidth" : "";
                 return Infeasible{Reason::no_host,
                                   c.job.cluster.accelerator.name + " has no host_link" + bandwidth};
             },
             [](const Case&) { return std::string("give it in accelerator_override, or write [\"none\"]"); }},
    PlanRule{Reason::no_host, place_of(&ParallelPlan::offload), place_of(&ParallelPlan::offload),
             [](const Case& c) {
                 return c.plan.offload != Offload::nvme || c.job.cluster.accelerator.nvme_bandwidth.si > 0.0;
             },
             [](const Case& c) {
                 return Infeasible{Reason::no_host,
                                   c.job.cluster.accelerator.name + " has no nvme_bandwidth to offload to"};
             },
             [](const Case&) { return std::string("give it in accelerator_override, or write [\"none\"]"); }},
    PlanRule{Reason::no_host, place_of(&ParallelPlan::offload), place_of(&ParallelPlan::sharding),
             [](const Case& c) {
                 return c.plan.offload != Offload::parameters || c.plan.sharding == Sharding::zero3;
             },
             [](const Case&) {
                 return Infeasible{
                     Reason::no_host,
                     "offload=parameters gathers parameters layer by layer, which needs sharding=zero3"};
             }},
    PlanRule{Reason::update_in_backward, place_of(&ParallelPlan::microbatch), place_of(&ParallelPlan::pp),
             [](const Case& c) {
                 return !c.job.workload.optimizer.in_backward ||
                        c.plan.microbatches(c.phase.global_batch) == 1;
             },
             [](const Case& c) {
                 return Infeasible{
                     Reason::update_in_backward,
                     "optimizer in_backward updates each layer after one microbatch, but there are " +
                         std::to_string(c.plan.microbatches(c.phase.global_batch)) +
                         "; write a larger microbatch or a smaller global_batch"};
             }},
    PlanRule{Reason::no_late_validation, place_of(&ParallelPlan::post_validation),
             place_of(&ParallelPlan::post_validation),
             [](const Case& c) {
                 return c.plan.post_validation == PostValidation::off || can_validate_later(c.plan);
             },
             [](const Case& c) {
                 return Infeasible{Reason::no_late_validation,
                                   "post_validation=on with pp=" + std::to_string(c.plan.pp) +
                                       " schedule=" + std::string(name(c.plan.schedule)) +
                                       "; it needs pp > 1 and a schedule that splits the backward pass"};
             }},
    // Forward passes have no gradients, no optimizer and no checkpoints.
    PlanRule{Reason::forward_only, place_of(&ParallelPlan::schedule), place_of(&ParallelPlan::schedule),
             [](const Case& c) { return c.job.workload.trains() || !splits_backward(c.plan.schedule); },
             [](const Case& c) {
                 return Infeasible{Reason::forward_only, std::string(name(c.plan.schedule)) +
                                                             " splits the backward pass, and there is none"};
             },
             [](const Case&) { return std::string("write 1f1b or interleaved"); }},
    PlanRule{Reason::forward_only, place_of(&ParallelPlan::offload), place_of(&ParallelPlan::offload),
             [](const Case& c) { return c.job.workload.trains() || c.plan.offload == Offload::none; },
             [](const Case& c) {
                 return Infeasible{
                     Reason::forward_only,
                     "offload=" + std::string(name(c.plan.offload)) +
                         ": there is no optimizer, and no activations wait for a backward pass"};
             },
             [](const Case&) { return std::string("write [\"none\"], or remove the axis"); }},
    PlanRule{Reason::forward_only, place_of(&ParallelPlan::checkpoint_interval),
             place_of(&ParallelPlan::checkpoint_interval),
             [](const Case& c) { return c.job.workload.trains() || c.plan.checkpoint_interval.si == 0.0; },
             [](const Case&) {
                 return Infeasible{Reason::forward_only,
                                   "finished sequences are kept, so there are no checkpoints"};
             },
             [](const Case&) { return std::string("remove the axis"); }},
    PlanRule{Reason::spares_and_nodes, place_of(&ParallelPlan::spares), place_of(&ParallelPlan::spares),
             [](const Case& c) { return !node_problem(c.plan, c.job.cluster); },
             [](const Case& c) { return *node_problem(c.plan, c.job.cluster); },
             [](const Case& c) {
                 if (c.plan.spares <= 0) {
                     return std::string(
                         "write slow_nodes = [{ node = 3, factor = 1.2 }], or remove the axis");
                 }
                 return c.job.cluster.nodes() > 1
                            ? "write " + std::to_string(c.job.cluster.nodes() - 1) + " or less"
                            : "write 0";
             }},
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

std::optional<ValueProblem> value_problem(const ParallelPlan& plan, const Job& job)
{
    const Phase no_phase;
    const Case alone{plan, no_phase, job};
    for (const PlanRule& rule : rules) {
        if (rule.remedy != nullptr && !rule.holds(alone)) {
            return ValueProblem{rule.problem(alone), rule.remedy(alone)};
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
