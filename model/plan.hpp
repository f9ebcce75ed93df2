#pragma once

/// How it is trained: degrees of parallelism, pipeline schedule, recompute, sharding, placement.

#include "model/units.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace prismopt {

enum class Schedule { gpipe, one_f_one_b, interleaved, zb_h1, zb_h2, zb_v, v_half, v_min, dualpipe, dualpipe_v };
enum class Recompute { none, selective, full };
/// Sharding level over data parallel replicas: nothing; the optimizer state (ZeRO-1, Megatron's distributed optimizer); gradients
/// as well (ZeRO-2, FSDP's SHARD_GRAD_OP); parameters as well (ZeRO-3, FSDP): gathered for each layer and pass, one layer ahead.
/// With zero2 and zero3 gradients are reduced layer by layer in each microbatch.
enum class Sharding { none, zero1, zero2, zero3 };
/// How the GPUs of a context parallel group see all keys and values: gathered before attention (Llama 3), or passed round a ring
/// beside it (Liu et al., arXiv 2310.01889, as in Transformer Engine).
enum class ContextExchange { all_gather, ring };
/// `layers`: the L layers are divided evenly, embedding and loss head ride on the first and last chunk.
/// `slots`: embedding and loss head count as one layer each (Llama 3 405B: 126 + 2 slots over 16 stages).
enum class LayerSplit { layers, slots };
/// Whether gradient reduce-scatter and parameter all-gather run beside compute: in buckets of layers, while the last backward
/// pass of a chunk goes through its layers, and the first forward pass waits only for the bucket that it needs next.
enum class DataParallelOverlap { off, on };
/// Whether stages wait for each other at the optimizer step, for the norm of all gradients; or step when they are ready and check
/// afterwards, so that each begins its next step at once (Qi et al., arXiv 2401.10241, section 4: what zero bubbles need).
enum class PostValidation { off, on };
/// Whether tensor parallel collectives run beside the products next to them.
enum class TensorParallelOverlap { off, on };
/// What is kept in the memory of the host: the optimizer's state, with the update done there (Ren et al., ZeRO-Offload, arXiv
/// 2101.06840, section 4), or what the backward pass needs of the layers, moved beside their compute.
enum class Offload { none, optimizer, activations };
/// Order of the parallel dimensions over the GPUs, innermost first.
enum class PlacementOrder { tp_pp_dp, tp_dp_pp };

/// Of choices that a scenario's reliability makes where a plan does not.
inline constexpr int as_configured = -1;

/// Which dimension lies across buildings (Cluster::building_gpus()): as `order` happens to put it; replicas; stages, as many
/// neighbours in each, or dealt out one by one; or none: the job stays in one building.
enum class Crossing { by_order, dp, pp, pp_interleaved, none };

/// Which of the job's nodes, whose factors are known, serve what: as they are listed; or the slowest first in the first replica, one
/// in each replica in turn, each on another stage, in the first stage of all replicas, in the last.
enum class NodeOrder { as_listed, packed, spread, first_stage, last_stage };

struct ParallelPlan {
    int tp = 1;
    int pp = 1;
    int dp = 1;
    int chunks = 1;      // v: model chunks per pipeline rank
    int group = 0;       // microbatches of a chunk in a row in interleaved; 0: pp
    int microbatch = 1;  // sequences
    Schedule schedule = Schedule::one_f_one_b;
    Recompute recompute = Recompute::none;
    Sharding sharding = Sharding::zero1;
    LayerSplit split = LayerSplit::layers;
    DataParallelOverlap dp_overlap = DataParallelOverlap::on;
    PlacementOrder order = PlacementOrder::tp_pp_dp;
    PostValidation post_validation = PostValidation::off;
    bool sequence_parallel = true;
    int cp = 1;   // context parallel: each member has s / cp tokens of every sequence
    int ep = 1;   // expert parallel: members of tp*cp*dp that share the experts of a layer
    int etp = 1;  // tensor parallel degree of the experts
    ContextExchange context_exchange = ContextExchange::ring;
    int shard_gpus = 0;  // GPUs over which the sharding goes, within cp*dp (hybrid sharding); 0: all
    TensorParallelOverlap tp_overlap = TensorParallelOverlap::off;
    Offload offload = Offload::none;
    Crossing crossing = Crossing::by_order;
    NodeOrder node_order = NodeOrder::as_listed;
    int recomputed_layers = 0;      // of `layers` with recompute = full: layers of the network that recompute; 0: all
    Seconds checkpoint_interval{};  // productive time between checkpoints; zero: as the reliability says
    int spares = as_configured;     // nodes that wait to replace failed ones: the slowest, where nodes are known

    int gpus() const { return tp * cp * pp * dp; }
    /// DualPipe trains two copies of the network in one pipeline.
    int model_copies() const { return schedule == Schedule::dualpipe ? 2 : 1; }
    /// GPUs between which gradients of what is not an expert are reduced.
    int gradient_gpus() const { return cp * dp * model_copies(); }
    int sharding_gpus() const { return shard_gpus > 0 ? shard_gpus : gradient_gpus(); }
    int microbatches(int global_batch) const { return global_batch / (dp * microbatch); }
};

/// A plan that cannot work, and why. Infeasible is a value, not an exception.
struct Infeasible {
    std::string reason;  // category, counted by the search: "out of memory"
    std::string detail;  // with the offending values: "stage 0 needs 91.2 GB, 80.0 GB present"
    double miss = 0.0;   // how far from feasible, in the unit of the reason (bytes for memory); 0 where it has none
};

/// Names as files and the command line spell them.
std::string_view name(Schedule value);
std::string_view name(Recompute value);
std::string_view name(Sharding value);
std::string_view name(LayerSplit value);
std::string_view name(DataParallelOverlap value);
std::string_view name(ContextExchange value);
std::string_view name(PostValidation value);
std::string_view name(TensorParallelOverlap value);
std::string_view name(Offload value);
std::string_view name(PlacementOrder value);
std::string_view name(Crossing value);
std::string_view name(NodeOrder value);

/// The enumerator of that name, or nothing.
template <class Enum>
std::optional<Enum> parse(std::string_view text);
/// All names of an enumeration, in order, separated by ", ".
template <class Enum>
std::string choices();

}  // namespace prismopt
