#pragma once

/// Axes of a design space, one row each. The readers of scenarios, their schema, `--design`, the space of a
/// search and the columns of its results are generated from this list.

#include "model/base/units.hpp"
#include "model/hardware/hardware.hpp"
#include "model/hardware/kernel_class.hpp"
#include "model/plan/plan.hpp"
#include "model/plan/precision_choice.hpp"
#include "model/plan/recovery.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace prismopt {

/// Values of each axis of the design space. A design on the command line uses the
/// same names (`tp=8 pp=16 v=2 ...`).
struct SpaceSettings {
    std::vector<int> gpus;
    std::vector<int> tp{1};
    std::vector<int> cp{1};
    std::vector<int> pp{1};
    std::vector<int> ep{1};
    std::vector<int> etp{1};
    std::vector<int> table_shards{0};  // 0: ep*etp
    std::vector<int> v{1};
    std::vector<int> microbatch{1};
    std::vector<Schedule> schedule{Schedule::one_f_one_b};
    std::vector<int> group{0};  // of interleaved; 0: pp
    std::vector<PostValidation> post_validation{PostValidation::off};
    std::vector<Recompute> recompute{Recompute::none};
    std::vector<ModuleSet> recompute_modules{ModuleSet{}};
    std::vector<ModuleSet> cuda_graphs{ModuleSet{}};
    std::vector<Sharding> sharding{Sharding::zero1};
    std::vector<int> shard_gpus{0};  // 0: all
    std::vector<LayerSplit> split{LayerSplit::layers};
    std::vector<DataParallelOverlap> dp_overlap{DataParallelOverlap::on};
    std::vector<PlacementOrder> order{PlacementOrder::tp_dp_pp};
    std::vector<Crossing> crossing{Crossing::by_order};
    std::vector<int> local_steps{1};
    std::vector<NodeOrder> node_order{NodeOrder::as_listed};
    std::vector<int> recomputed_layers{0};  // 0: all
    std::vector<TensorParallelOverlap> tp_overlap{TensorParallelOverlap::off};
    std::vector<int> ulysses{1};
    std::vector<ContextExchange> context_exchange{ContextExchange::ring};
    std::vector<SequenceParallel> sequence_parallel{SequenceParallel::on};
    std::vector<ExpertOverlap> expert_overlap{ExpertOverlap::off};
    std::vector<Dispatch> dispatch{Dispatch::of_stack};
    std::vector<Offload> offload{Offload::none};
    std::vector<Seconds> checkpoint_interval{Seconds{}};  // zero: as in [reliability]
    std::vector<int> spares{as_configured};               // by default as in [reliability]
    // Not of a plan, but of the training:
    std::vector<int> global_batch{};                  // sequences; empty: those of the phases
    std::vector<PrecisionChoice> precision{};         // empty: that of the workload
    std::vector<AttentionKernel> attention_kernel{};  // same
    std::vector<Recovery> recovery{};                 // empty: as in [reliability]
};

/// What the value of an axis can change. Bounds of sub-spaces (optimizer/space/stand_ins.hpp) leave axes out
/// that change nothing of what they bound: an axis that says too little makes searches exclude the best plan.
/// Values that change nothing at all are other names of one plan.
struct Changes {
    bool stages = true;      // the work of the busiest stage
    bool memory = true;      // the least memory
    bool run = false;        // how long a job takes with a given step
    bool adds_work = false;  // every other value than none only adds work to stages
    // Whether it changes anything in such plans; null: add_names() of design_map.cpp knows.
    bool (*anything)(const ParallelPlan&) = nullptr;
};
inline constexpr Changes stages_and_memory{};
inline constexpr Changes stages_only{.memory = false};
inline constexpr Changes memory_only{.stages = false};
inline constexpr Changes added_work{.adds_work = true};
inline constexpr Changes run_only{.stages = false, .memory = false, .run = true};
/// Of bounds, which take the least exposed communication and the highest level of sharding.
inline constexpr Changes no_bound{.stages = false, .memory = false};

inline bool has_token_exchanges(const ParallelPlan& plan) { return plan.exchanges_tokens(); }
inline bool has_gradient_sums(const ParallelPlan& plan) { return plan.gradient_gpus() > 1; }
inline bool has_tensor_groups(const ParallelPlan& plan) { return plan.tp > 1; }
inline bool has_context_groups(const ParallelPlan& plan) { return plan.cp > 1; }
inline bool exchanges_keys(const ParallelPlan& plan) { return plan.ring_gpus() > 1; }

/// The same, in plans for which `anything` holds.
constexpr Changes only_where(bool (*anything)(const ParallelPlan&), Changes changes)
{
    changes.anything = anything;
    return changes;
}

/// One axis. Its values are integers from `low` to `high`, names of an
/// enumeration, sets of modules, or times.
template <class T>
struct PlanAxis {
    std::string_view name;  // in [space], in --design and in results
    T ParallelPlan::*choice;
    std::vector<T> SpaceSettings::*values;
    std::string_view help;
    std::string_view example;  // one value, as spelled in a scenario
    Changes changes;
    int low = 1;
    int high = 10'000;
    std::span<const Module> modules{};  // that sets choose from: a static table
};

/// All axes after the number of GPUs, in the order in which a space sets them: those that
/// exclude most plans come first.
inline constexpr std::tuple plan_axes{
    PlanAxis<int>{"tp", &ParallelPlan::tp, &SpaceSettings::tp, "tensor-parallel degree: GPUs per group", "8",
                  stages_and_memory},
    PlanAxis<int>{"cp", &ParallelPlan::cp, &SpaceSettings::cp,
                  "context-parallel degree: GPUs that share a sequence", "2", stages_and_memory},
    PlanAxis<int>{"ulysses", &ParallelPlan::ulysses, &SpaceSettings::ulysses,
                  "GPUs of a context-parallel group that exchange tokens for heads around attention by "
                  "all-to-all (Ulysses); the "
                  "cp/ulysses with the same heads exchange keys and values (USP); 1: no all-to-all; 0: all",
                  "4", only_where(has_context_groups, stages_and_memory), 0},
    PlanAxis<int>{"pp", &ParallelPlan::pp, &SpaceSettings::pp, "pipeline stages", "8", stages_and_memory},
    PlanAxis<int>{"ep", &ParallelPlan::ep, &SpaceSettings::ep,
                  "expert-parallel degree: GPUs that share the experts of a layer", "8", stages_and_memory, 1,
                  100'000},
    PlanAxis<int>{"etp", &ParallelPlan::etp, &SpaceSettings::etp, "tensor-parallel degree inside an expert",
                  "1", stages_and_memory},
    PlanAxis<int>{
        "table_shards", &ParallelPlan::table_shards, &SpaceSettings::table_shards,
        "GPUs that share the embedding tables of a recommendation network: all of a stage; 0: ep*etp", "128",
        stages_and_memory, 0, 10'000'000},
    PlanAxis<PlacementOrder>{"order", &ParallelPlan::order, &SpaceSettings::order,
                             "order of the parallel dimensions over the GPUs, innermost first; default: "
                             "stages outermost (tp-dp-pp), as in "
                             "Megatron-Core, torchtitan and DeepSpeed",
                             "tp-pp-dp", stages_and_memory},
    PlanAxis<Crossing>{"crossing", &ParallelPlan::crossing, &SpaceSettings::crossing,
                       "dimension that crosses buildings: as in `order`, replicas, stages (in blocks or "
                       "round-robin), or none",
                       "dp", stages_and_memory},
    PlanAxis<int>{
        "local_steps", &ParallelPlan::local_steps, &SpaceSettings::local_steps,
        "local steps between two exchanges of replicas in different buildings (crossing = dp; DiLoCo); "
        "[local_updates] states the price; 1: they exchange gradients in every step",
        "30", stages_and_memory},
    PlanAxis<int>{"microbatch", &ParallelPlan::microbatch, &SpaceSettings::microbatch,
                  "sequences per microbatch", "1", stages_and_memory, 1, 1'000'000},
    PlanAxis<Schedule>{"schedule", &ParallelPlan::schedule, &SpaceSettings::schedule, "pipeline schedule",
                       "1f1b", stages_and_memory},
    PlanAxis<int>{"v", &ParallelPlan::chunks, &SpaceSettings::v, "model chunks per pipeline rank", "2",
                  stages_and_memory},
    PlanAxis<int>{"group", &ParallelPlan::group, &SpaceSettings::group,
                  "consecutive microbatches of a chunk in the interleaved schedule; default: pp", "8",
                  stages_and_memory, 1, 65'535},
    PlanAxis<LayerSplit>{"split", &ParallelPlan::split, &SpaceSettings::split,
                         "how layers are divided among chunks: evenly (layers); evenly, with embedding and "
                         "head counted as a layer each (slots); "
                         "by layer times, to minimise the busiest stage (balanced; without its transfers and "
                         "its work once per step); or as in "
                         "`layout` (given)",
                         "balanced", stages_and_memory},
    PlanAxis<Recompute>{"recompute", &ParallelPlan::recompute, &SpaceSettings::recompute,
                        "what the backward pass recomputes", "selective", added_work},
    PlanAxis<ModuleSet>{
        "recompute_modules", &ParallelPlan::recompute_modules, &SpaceSettings::recompute_modules,
        "sets of modules that recompute = selective recomputes, by their names in Megatron-Core; default: "
        "the scores "
        "of plain attention (core_attn), else the results of norms, activations and gates (elementwise)",
        R"(["layernorm", "moe_act"])", added_work, 1, 10'000, recomputable_modules},
    PlanAxis<int>{"recomputed_layers", &ParallelPlan::recomputed_layers, &SpaceSettings::recomputed_layers,
                  "number of layers to recompute with recompute = full; 0: all", "8", added_work, 0,
                  1'000'000},
    PlanAxis<Sharding>{"sharding", &ParallelPlan::sharding, &SpaceSettings::sharding,
                       "what is sharded over data-parallel replicas: nothing, the optimizer state, also "
                       "gradients, also parameters",
                       "zero1", only_where(has_gradient_sums, no_bound)},
    PlanAxis<int>{"shard_gpus", &ParallelPlan::shard_gpus, &SpaceSettings::shard_gpus,
                  "GPUs among which `sharding` divides, of the cp*dp GPUs of a stage; gradients are also "
                  "summed between such groups "
                  "(hybrid sharding, HSDP); 0: all of them",
                  "8", memory_only, 0, 10'000'000},
    PlanAxis<DataParallelOverlap>{"dp_overlap", &ParallelPlan::dp_overlap, &SpaceSettings::dp_overlap,
                                  "whether collectives of gradients and parameters overlap with compute",
                                  "on", only_where(has_gradient_sums, no_bound)},
    PlanAxis<SequenceParallel>{
        "sequence_parallel", &ParallelPlan::sequence_parallel, &SpaceSettings::sequence_parallel,
        "whether tensor-parallel groups also share the tokens of norms and residual sums", "off",
        only_where(has_tensor_groups, stages_and_memory)},
    PlanAxis<TensorParallelOverlap>{
        "tp_overlap", &ParallelPlan::tp_overlap, &SpaceSettings::tp_overlap,
        "whether tensor-parallel collectives overlap with adjacent matrix products", "on",
        only_where(has_tensor_groups, stages_only)},
    PlanAxis<ContextExchange>{
        "context_exchange", &ParallelPlan::context_exchange, &SpaceSettings::context_exchange,
        "how the cp/ulysses GPUs of a context-parallel group with the same heads exchange keys and values",
        "ring", only_where(exchanges_keys, stages_only)},
    PlanAxis<ExpertOverlap>{"expert_overlap", &ParallelPlan::expert_overlap, &SpaceSettings::expert_overlap,
                            "what overlaps with token exchanges of experts: nothing, the shared experts, or "
                            "passes of other microbatches",
                            "shared-experts", only_where(has_token_exchanges, stages_only)},
    PlanAxis<Dispatch>{
        "dispatch", &ParallelPlan::dispatch, &SpaceSettings::dispatch,
        "how tokens are exchanged with experts: as the software stack does, each copy in an all-to-all, all "
        "tokens in an "
        "all-gather, or once per node and GPU, with nodes of up to 8 GPUs (deepep) or of any size (hybridep)",
        "deepep", only_where(has_token_exchanges, stages_only)},
    PlanAxis<ModuleSet>{"cuda_graphs", &ParallelPlan::cuda_graphs, &SpaceSettings::cuda_graphs,
                        "sets of modules whose kernels CUDA graphs launch, by their names in Megatron-Core, "
                        "so that no kernel waits for "
                        "the host; default: none",
                        R"(["attn", "moe_router"])", stages_only, 1, 10'000, graph_modules},
    PlanAxis<Offload>{"offload", &ParallelPlan::offload, &SpaceSettings::offload,
                      "what is kept in host memory", "none", added_work},
    PlanAxis<PostValidation>{"post_validation", &ParallelPlan::post_validation,
                             &SpaceSettings::post_validation,
                             "whether stages take the optimizer step before the global gradient check, as "
                             "zero-bubble schedules need",
                             "on", stages_only},
    PlanAxis<Seconds>{
        "checkpoint_interval", &ParallelPlan::checkpoint_interval, &SpaceSettings::checkpoint_interval,
        "productive time between checkpoints; default: as in [reliability]", "10 min", run_only},
    PlanAxis<NodeOrder>{"node_order", &ParallelPlan::node_order, &SpaceSettings::node_order,
                        "placement of known slow nodes: as listed, packed into the first replica, spread "
                        "over replicas, in the "
                        "first or the last stage",
                        "packed", no_bound},
    PlanAxis<int>{"spares", &ParallelPlan::spares, &SpaceSettings::spares,
                  "spare nodes that replace failed ones; default: as in [reliability]", "16", run_only, 0,
                  1'000'000},
};
inline constexpr PlanAxis<int> gpus_axis{
    "gpus", nullptr, &SpaceSettings::gpus, "GPUs of the job", "2048", stages_and_memory, 1, 10'000'000};

/// Calls visit(row) for each axis except gpus, in order.
template <class Visit>
constexpr void for_each_axis(Visit&& visit)
{
    std::apply([&visit](const auto&... axis) { (visit(axis), ...); }, plan_axes);
}

/// Calls visit(name, the plan's choice, the space's values) for each axis except gpus, in order.
template <class Visit>
void for_axes(ParallelPlan& plan, const SpaceSettings& space, Visit&& visit)
{
    for_each_axis([&](const auto& axis) { visit(axis.name, plan.*(axis.choice), space.*(axis.values)); });
}

/// Returns the position of an axis in a point of the space; the number of GPUs is at 0.
template <class T>
constexpr std::size_t place_of(T ParallelPlan::*choice)
{
    std::size_t place = 0;
    std::size_t found = 0;
    for_each_axis([&](const auto& axis) {
        ++place;
        if constexpr (std::is_same_v<decltype(axis.choice), T ParallelPlan::*>) {
            if (axis.choice == choice) {
                found = place;
            }
        }
    });
    return found;
}

}  // namespace prismopt
