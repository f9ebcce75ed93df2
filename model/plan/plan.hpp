#pragma once

/// Parallelism plan: degrees of parallelism, pipeline schedule, recompute, sharding, placement.

#include "model/base/names.hpp"
#include "model/base/units.hpp"
#include "model/plan/modules.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace prismopt {

enum class Schedule {
    gpipe,
    one_f_one_b,
    interleaved,
    zb_h1,
    zb_h2,
    zb_v,
    v_half,
    v_min,
    dualpipe,
    dualpipe_v
};

/// Facts about a pipeline schedule that plans depend on. Its order of tasks is in model/schedule/orders/.
struct ScheduleFacts {
    Schedule schedule;
    std::string_view name;
    int chunks;        // per pipeline rank; 0: two or more
    bool one_stage;    // whether it is defined on one stage, where all that are do the same
    int model_copies;  // copies of the network in a pipeline
    bool groups;       // whether it takes microbatches of a chunk in groups: the axis `group`
    bool pairs;  // whether a forward pass of one microbatch and a backward pass of another run side by side
};
inline constexpr auto schedule_facts = std::to_array<ScheduleFacts>({
    {Schedule::gpipe, "gpipe", 1, true, 1, false, false},
    {Schedule::one_f_one_b, "1f1b", 1, true, 1, false, false},
    {Schedule::interleaved, "interleaved", 0, false, 1, true, false},
    {Schedule::zb_h1, "zb_h1", 1, false, 1, false, false},
    {Schedule::zb_h2, "zb_h2", 1, false, 1, false, false},
    {Schedule::zb_v, "zb_v", 2, false, 1, false, false},
    {Schedule::v_half, "v_half", 2, false, 1, false, false},
    {Schedule::v_min, "v_min", 2, false, 1, false, false},
    {Schedule::dualpipe, "dualpipe", 2, false, 2, false, true},
    {Schedule::dualpipe_v, "dualpipe_v", 2, false, 1, false, true},
});
/// Schedules of plans that name none, with one chunk per pipeline rank and with several.
inline constexpr Schedule usual_schedule = Schedule::one_f_one_b;
inline constexpr Schedule usual_schedule_of_chunks = Schedule::interleaved;

template <>
inline constexpr auto names_of<Schedule> = [] {
    std::array<Named<Schedule>, schedule_facts.size()> names{};
    std::transform(schedule_facts.begin(), schedule_facts.end(), names.begin(), [](const ScheduleFacts& of) {
        return Named<Schedule>{of.schedule, of.name};
    });
    return names;
}();

constexpr const ScheduleFacts& facts_of(Schedule schedule)
{
    return *std::find_if(schedule_facts.begin(), schedule_facts.end(),
                         [schedule](const ScheduleFacts& of) { return of.schedule == schedule; });
}
/// Returns whether the schedule is defined for this number of chunks per pipeline rank.
bool runs_chunks(Schedule schedule, int chunks);
/// Returns the number of parts into which the network is divided over `stages` of `chunks` each.
int network_chunks(Schedule schedule, int stages, int chunks);

enum class Recompute { none, selective, full };
template <>
inline constexpr auto names_of<Recompute> = std::to_array<Named<Recompute>>(
    {{Recompute::none, "none"}, {Recompute::selective, "selective"}, {Recompute::full, "full"}});

/// Sharding level over data-parallel replicas: none; the optimizer states (ZeRO-1, Megatron's
/// distributed optimizer); gradients as well (ZeRO-2, FSDP's SHARD_GRAD_OP); parameters as well
/// (ZeRO-3, FSDP), gathered for each layer and pass, one layer ahead. With zero2 and zero3 gradients are
/// reduced layer by layer in each microbatch.
enum class Sharding { none, zero1, zero2, zero3 };
template <>
inline constexpr auto names_of<Sharding> = std::to_array<Named<Sharding>>({{Sharding::none, "none"},
                                                                           {Sharding::zero1, "zero1"},
                                                                           {Sharding::zero2, "zero2"},
                                                                           {Sharding::zero3, "zero3"}});
constexpr bool shards_gradients(Sharding sharding)
{
    return sharding == Sharding::zero2 || sharding == Sharding::zero3;
}
/// Whether each forward pass gathers the parameters of its layers. `once`: the software gathers those of
/// ZeRO-2 once per step (SoftwareStack::gathers_once).
constexpr bool gathers_in_passes(Sharding sharding, bool once)
{
    return sharding == Sharding::zero3 || (sharding == Sharding::zero2 && !once);
}

/// Exchange of keys and values among the members of a context-parallel group that have the same heads:
/// gathered before attention (Llama 3), or passed around a ring beside it (Liu et al., arXiv
/// 2310.01889, as in Transformer Engine).
enum class ContextExchange { all_gather, ring };
template <>
inline constexpr auto names_of<ContextExchange> = std::to_array<Named<ContextExchange>>(
    {{ContextExchange::all_gather, "all-gather"}, {ContextExchange::ring, "ring"}});

/// Division of layers over chunks. docs/methods/step-graph.md.
///
/// - `layers`: the L layers are divided evenly; embedding and loss head are
///   added to the first and last chunk.
/// - `slots`: embedding and loss head count as one layer each (Llama 3 405B: 126 + 2 slots over 16 stages).
/// - `balanced`: minimises the time of the busiest stage (balanced_layout.hpp).
/// - `given`: as in one of the workload's layouts.
enum class LayerSplit { layers, slots, balanced, given };
template <>
inline constexpr auto names_of<LayerSplit> = std::to_array<Named<LayerSplit>>({{LayerSplit::layers, "layers"},
                                                                               {LayerSplit::slots, "slots"},
                                                                               {LayerSplit::balanced,
                                                                                "balanced"},
                                                                               {LayerSplit::given, "given"}});

/// Whether gradient reduce-scatter and parameter all-gather overlap with compute: in buckets
/// of layers, during the last backward pass of a chunk; the first forward pass waits only for
/// the bucket that it needs next.
enum class DataParallelOverlap { off, on };
template <>
inline constexpr auto names_of<DataParallelOverlap> = std::to_array<Named<DataParallelOverlap>>(
    {{DataParallelOverlap::off, "off"}, {DataParallelOverlap::on, "on"}});

/// Whether stages skip waiting for each other at the optimizer step for the norm of all gradients. With
/// post-validation each stage steps when it is ready, validates afterwards, and begins its next step at once
/// (Qi et al., arXiv 2401.10241, section 4), as zero-bubble schedules need.
enum class PostValidation { off, on };
template <>
inline constexpr auto names_of<PostValidation> =
    std::to_array<Named<PostValidation>>({{PostValidation::off, "off"}, {PostValidation::on, "on"}});

/// Whether tensor-parallel collectives overlap with the products next to them.
enum class TensorParallelOverlap { off, on };
template <>
inline constexpr auto names_of<TensorParallelOverlap> = std::to_array<Named<TensorParallelOverlap>>(
    {{TensorParallelOverlap::off, "off"}, {TensorParallelOverlap::on, "on"}});

/// Whether a tensor-parallel group also shares the tokens of what it does not divide by columns: norms,
/// residual sums (Korthikanti et al., arXiv 2205.05198, section 4.2.2).
enum class SequenceParallel { on, off };
template <>
inline constexpr auto names_of<SequenceParallel> =
    std::to_array<Named<SequenceParallel>>({{SequenceParallel::on, "on"}, {SequenceParallel::off, "off"}});

/// Compute that hides the exchanges of tokens with their experts: nothing; the shared experts (Megatron-Core,
/// moe-shared-expert-overlap); or the backward pass of another microbatch beside a forward pass and the
/// reverse (overlap-moe-expert-parallel-comm).
enum class ExpertOverlap { off, shared_experts, microbatches };
template <>
inline constexpr auto names_of<ExpertOverlap> =
    std::to_array<Named<ExpertOverlap>>({{ExpertOverlap::off, "off"},
                                         {ExpertOverlap::shared_experts, "shared-experts"},
                                         {ExpertOverlap::microbatches, "microbatches"}});

/// Exchange of tokens with experts: that of the software stack; an all-to-all of each copy; an all-gather
/// of all tokens of the expert-parallel group and a reduce-scatter back (Megatron-Core,
/// token_dispatcher.py); or kernels that send a token once to each node, and there once to each GPU:
/// DeepEP, whose nodes are of up to 8 GPUs, and HybridEP, whose nodes are NVLink domains of any size
/// (deepseek-ai/DeepEP, README.md and its branch hybrid-ep).
enum class Dispatch { of_stack, all_to_all, all_gather, deepep, hybridep };
template <>
inline constexpr auto names_of<Dispatch> =
    std::to_array<Named<Dispatch>>({{Dispatch::of_stack, "of-stack"},
                                    {Dispatch::all_to_all, "all-to-all"},
                                    {Dispatch::all_gather, "all-gather"},
                                    {Dispatch::deepep, "deepep"},
                                    {Dispatch::hybridep, "hybridep"}});

/// Tensors kept in host memory: the optimizer states, with the update done there (Ren et al.,
/// ZeRO-Offload, arXiv 2101.06840, section 4); the saved activations of the layers, moved beside their
/// compute; or parameters, gradients and optimizer states, of which the accelerator has those of the
/// layers in work (Rajbhandari et al., ZeRO-Infinity, arXiv 2104.07857, section 5). `nvme`: the optimizer
/// states, on drives of the node.
enum class Offload { none, optimizer, activations, parameters, nvme };
template <>
inline constexpr auto names_of<Offload> = std::to_array<Named<Offload>>({{Offload::none, "none"},
                                                                         {Offload::optimizer, "optimizer"},
                                                                         {Offload::activations,
                                                                          "activations"},
                                                                         {Offload::parameters, "parameters"},
                                                                         {Offload::nvme, "nvme"}});
/// Whether the states are updated by the host.
constexpr bool updates_on_host(Offload offload)
{
    return offload == Offload::optimizer || offload == Offload::parameters || offload == Offload::nvme;
}

/// Order of the parallel dimensions over the GPUs, innermost first.
enum class PlacementOrder { tp_pp_dp, tp_dp_pp };
template <>
inline constexpr auto names_of<PlacementOrder> = std::to_array<Named<PlacementOrder>>(
    {{PlacementOrder::tp_pp_dp, "tp-pp-dp"}, {PlacementOrder::tp_dp_pp, "tp-dp-pp"}});

/// Value of plan choices that the scenario's reliability determines.
inline constexpr int as_configured = -1;

/// Parallel dimension that crosses buildings (Cluster::building_gpus()): the one that `order` puts there;
/// replicas; stages, in contiguous blocks or one by one in turn; or none, with the job in one building.
enum class Crossing { by_order, dp, pp, pp_interleaved, none };
template <>
inline constexpr auto names_of<Crossing> = std::to_array<Named<Crossing>>({{Crossing::by_order, "by-order"},
                                                                           {Crossing::dp, "dp"},
                                                                           {Crossing::pp, "pp"},
                                                                           {Crossing::pp_interleaved,
                                                                            "pp-interleaved"},
                                                                           {Crossing::none, "none"}});

/// Node assignment if the factors of nodes are known: as listed; or the slowest first packed into the
/// first replica, spread one per replica in turn (each on another stage), in the first stage of all
/// replicas, or in the last stage.
enum class NodeOrder { as_listed, packed, spread, first_stage, last_stage };
template <>
inline constexpr auto names_of<NodeOrder> =
    std::to_array<Named<NodeOrder>>({{NodeOrder::as_listed, "as-listed"},
                                     {NodeOrder::packed, "packed"},
                                     {NodeOrder::spread, "spread"},
                                     {NodeOrder::first_stage, "first-stage"},
                                     {NodeOrder::last_stage, "last-stage"}});

/// One plan. The members have the meaning of the axes of the same name (plan_axes.hpp).
struct ParallelPlan {
    int tp = 1;
    int pp = 1;
    int dp = 1;
    int chunks = 1;      // v: model chunks per pipeline rank
    int group = 0;       // of interleaved: consecutive microbatches of a chunk; 0: pp
    int microbatch = 1;  // sequences
    Schedule schedule = Schedule::one_f_one_b;
    Recompute recompute = Recompute::none;
    Sharding sharding = Sharding::zero1;
    LayerSplit split = LayerSplit::layers;
    DataParallelOverlap dp_overlap = DataParallelOverlap::on;
    PlacementOrder order = PlacementOrder::tp_dp_pp;
    PostValidation post_validation = PostValidation::off;
    SequenceParallel sequence_parallel = SequenceParallel::on;
    int cp = 1;   // context parallelism: each member has s / cp tokens of every sequence
    int ep = 1;   // expert parallelism: members of tp*cp*dp that share the experts of a layer
    int etp = 1;  // tensor-parallel degree of the experts
    // members of a context-parallel group that exchange tokens for heads around attention; 0: all
    int ulysses = 1;
    ContextExchange context_exchange = ContextExchange::ring;
    int table_shards = 0;  // GPUs that share the embedding tables; 0: ep*etp
    int shard_gpus = 0;    // GPUs per sharding group, within cp*dp (hybrid sharding); 0: all
    TensorParallelOverlap tp_overlap = TensorParallelOverlap::off;
    ExpertOverlap expert_overlap = ExpertOverlap::off;
    Offload offload = Offload::none;
    Crossing crossing = Crossing::by_order;
    NodeOrder node_order = NodeOrder::as_listed;
    // with recompute = selective; empty: core_attn of plain attention, else elementwise
    ModuleSet recompute_modules{};
    ModuleSet cuda_graphs{};  // modules that CUDA graphs launch; empty: none
    Dispatch dispatch = Dispatch::of_stack;
    int recomputed_layers = 0;      // with recompute = full: layers of the network that recompute; 0: all
    Seconds checkpoint_interval{};  // productive time between checkpoints; zero: as the reliability has it
    int spares = as_configured;     // nodes that wait to replace failed ones: the slowest if nodes are known
    int local_steps = 1;            // steps between two exchanges of replicas in different buildings

    auto operator<=>(const ParallelPlan&) const = default;

    /// Whether tokens are exchanged between GPUs on their way to experts.
    bool exchanges_tokens() const { return ep > 1; }
    /// Whether forward passes run beside backward passes of another microbatch, to
    /// hide their exchanges of tokens.
    bool pairs_microbatches() const
    {
        return exchanges_tokens() && expert_overlap == ExpertOverlap::microbatches;
    }
    /// Members of a context-parallel group that have other heads of the same tokens in
    /// attention (DeepSpeed-Ulysses, arXiv
    /// 2309.14509), and those with the same heads of other tokens, which exchange keys and
    /// values (USP, arXiv 2405.07719).
    int head_gpus() const
    {
        if (cp == 1) {
            return 1;
        }
        return ulysses > 0 ? ulysses : cp;
    }
    int ring_gpus() const { return cp / head_gpus(); }
    int table_gpus() const { return table_shards > 0 ? table_shards : ep * etp; }
    bool shares_tokens() const { return sequence_parallel == SequenceParallel::on; }
    int gpus() const { return tp * cp * pp * dp; }
    /// Copies of the network in one pipeline: two in DualPipe.
    int model_copies() const { return facts_of(schedule).model_copies; }
    /// GPUs over which gradients outside routed experts are reduced.
    int gradient_gpus() const { return cp * dp * model_copies(); }
    int sharding_gpus() const { return shard_gpus > 0 ? shard_gpus : gradient_gpus(); }
    int microbatches(int global_batch) const { return global_batch / (dp * microbatch); }
};

}  // namespace prismopt
