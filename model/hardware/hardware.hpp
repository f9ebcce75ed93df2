#pragma once

/// Hardware description of a cluster: accelerator, software stack, and the nested tiers of the network.

#include "model/base/names.hpp"
#include "model/base/units.hpp"
#include "model/hardware/kernel_class.hpp"
#include "model/hardware/memory_rules.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace prismopt {

/// Precision of the products of linear layers. Attention, normalisation and the loss stay in 16 bits
/// (32 with fp32 and tf32), as in NVIDIA's Transformer Engine. Kinds of 8 bits differ by what has a
/// scale of its own: a tensor, from the largest values of earlier steps (delayed) or of this one
/// (current); tiles of 1 x 128 and blocks of 128 x 128 numbers; or 32 numbers in a row (MXFP8). `fp8`:
/// the kind that the software stack uses.
enum class Precision { fp32, tf32, bf16, fp8, fp8_delayed, fp8_current, fp8_blockwise, mxfp8, nvfp4 };
template <>
inline constexpr auto names_of<Precision> =
    std::to_array<Named<Precision>>({{Precision::fp32, "fp32"},
                                     {Precision::tf32, "tf32"},
                                     {Precision::bf16, "bf16"},
                                     {Precision::fp8, "fp8"},
                                     {Precision::fp8_delayed, "fp8-delayed"},
                                     {Precision::fp8_current, "fp8-current"},
                                     {Precision::fp8_blockwise, "fp8-blockwise"},
                                     {Precision::mxfp8, "mxfp8"},
                                     {Precision::nvfp4, "nvfp4"}});
constexpr bool has_8_bits(Precision precision)
{
    return precision >= Precision::fp8 && precision <= Precision::mxfp8;
}
constexpr bool has_fewer_than_16_bits(Precision precision) { return precision >= Precision::fp8; }

/// Fractions of the peaks that kernels reach, fitted to measured runs (named in the catalog); dimensionless.
struct Efficiency {
    double gemm = 0.0;       // large matrix products in 16 bits and more, before tile and wave quantisation
    double attention = 0.0;  // fused attention with heads of 128, forward
    double attention_backward = 0.0;
    double memory = 0.0;  // elementwise kernels, of memory bandwidth
    // Of their own peaks. Zero: not known.
    double gemm_fp8 = 0.0;          // products in 8 bits with a scale for each tensor; unknown: as `gemm`
    double gemm_fp8_block = 0.0;    // with scales for tiles and blocks; unknown: as `gemm_fp8`
    double gemm_mxfp8 = 0.0;        // with scales for 32 numbers; unknown: near `gemm_fp8` (kernel_time.cpp)
    double gemm_nvfp4 = 0.0;        // in 4 bits; unknown: as `gemm_fp8`
    double attention_latent = 0.0;  // forward, keys and values of different sizes; unknown: as `attention`
    // products of scans, of the 16-bit peak; unknown: a rate that accelerators share (kernel_time.cpp)
    double scan = 0.0;
    double cast = 0.0;    // casts of operands, of memory bandwidth; unknown: as `memory`
    double stream = 0.0;  // operands of products and attention, of memory bandwidth; unknown: as `memory`

    bool operator==(const Efficiency&) const = default;
};

/// Energy of an accelerator's work, beyond what its board draws while it waits; zero: not given.
/// docs/methods/hardware-power.md.
struct WorkEnergy {
    JoulesPerFlop bf16{};  // 16-bit products
    JoulesPerFlop fp32{};
    JoulesPerFlop tf32{};
    JoulesPerFlop fp8{};
    JoulesPerFlop fp4{};
    JoulesPerByte memory{};  // of traffic

    bool operator==(const WorkEnergy&) const = default;
};

/// One accelerator (GPU).
struct Accelerator {
    std::string name;
    FlopsPerSecond peak_bf16;  // 16-bit products, dense, without sparsity
    int multiprocessors = 0;   // for wave quantisation
    Bytes memory;
    Bytes memory_reserved;  // CUDA context, communication buffers, fragmentation
    BytesPerSecond memory_bandwidth;
    Watts power;     // board limit
    Seconds launch;  // gap between consecutive kernels
    Efficiency efficiency;
    double sustained_clock = 1.0;  // clock in long matrix products over the clock of the peaks
    // columns of a head whose products take as long as the softmax of their scores
    double softmax_columns = 0.0;
    double model_error = 0.0;  // relative; lower limit of the width of the model's prediction interval
    // Dense peaks of other precisions; zero: not supported.
    FlopsPerSecond peak_fp32{0.0};
    FlopsPerSecond peak_tf32{0.0};
    FlopsPerSecond peak_fp8{0.0};
    FlopsPerSecond peak_fp4{0.0};

    // This accelerator's share of the host: of the link to it, per direction, and of its memory
    // bandwidth; zero: no offloading.
    BytesPerSecond host_link{0.0};
    BytesPerSecond host_memory_bandwidth{0.0};
    Bytes host_memory{0.0};              // its share, too; zero: no limit is known
    BytesPerSecond nvme_bandwidth{0.0};  // its share of what the drives of its node read or write; zero: none

    std::string catalog_entry{};  // entry that the numbers are from, even if some were changed; empty: none

    WorkEnergy energy{};
    // all of `energy` is known, and a run draws it; else a share of the board limit as long as it trains
    bool energy_follows_work = false;

    bool operator==(const Accelerator&) const = default;

    /// Returns the peak of dense products; zero if the accelerator does not support this precision.
    FlopsPerSecond peak(Precision precision) const;
    /// Returns the energy of an operation of dense products.
    JoulesPerFlop energy_of(Precision precision) const;
    /// Whether its products take scales of blocks (and with them all orders of their operands), as those with
    /// units for 4 bits do; others of 8 bits need a transposed copy for the backward pass
    /// (NVIDIA/TransformerEngine, docs/features/low_precision_training).
    bool takes_block_scales() const { return peak_fp4.si > 0.0; }
    /// Returns the rate of dense products at the clock that the accelerator holds under load.
    FlopsPerSecond sustained(FlopsPerSecond of_peak) const { return of_peak * sustained_clock; }
};

/// Software stack: a framework release's effect on kernel and network times. Its factors
/// multiply the accelerator's fractions of the peak, so that both can be fitted on runs that
/// have only one of them in common.
struct SoftwareStack {
    std::string name = "reference";
    double gemm = 1.0;
    double attention = 1.0;
    double memory = 1.0;          // below one if elementwise kernels are not fused
    Seconds launch{0.0};          // added to the accelerator's gap between kernels
    Seconds step{0.0};            // once per step: data, loss, logging, gradient norm
    double gradient_bytes = 4.0;  // per gradient element in the reduction of gradients
    double routing = 1.0;         // factor of the memory traffic of routing, permuting and combining tokens
    double network = 1.0;         // factor of the links' efficiency
    // a token goes once to each node and GPU that has experts for it (DeepEP), not once per expert
    bool sends_once = false;
    Precision fp8 = Precision::fp8_current;  // kind of 8 bits that `precision = "fp8"` means
    std::string collectives{};               // library that its containers have; empty: the usual one
    double dispatch_bytes = 2.0;  // per element of tokens sent to experts, where products have 8 or 4 bits
    double loss_traffic = 24.0;   // bytes moved per logit by the loss, forward and backward
    double messages = 1.0;        // collectives per layer that gather its parameters
    // Host time per launch: no pass is shorter than its launches. Nodes of a CUDA graph cost none.
    Seconds host{0.0};         // of an operator that Python calls
    Seconds host_native{0.0};  // from C++, back to back inside one operator; zero: as `host`
    // one kernel multiplies all experts of a GPU (Transformer Engine from 2.17), not one each
    bool grouped_experts = false;
    // kernels of gated experts' products hold the activation and its casts, in MXFP8
    bool fused_experts = false;
    MemoryRules holds{};
    // share of the multiprocessors that a collective takes from the compute beside it
    double communication_share = 0.1;
    // stages of interleaved schedules exchange the results of a forward and a backward pass before going on
    bool waits_for_chunks = false;
    // parameters of ZeRO-2 plans stay whole and are gathered once per step, not in each forward pass
    bool gathers_once = false;
    bool own = false;       // a user's, which the fit does not know
    bool borrowed = false;  // of other software that is near that of the job, of which no run was measured
};

/// Returns the precision with the stack's kind of 8 bits in place of `fp8`.
inline Precision kind_of(Precision precision, const SoftwareStack& stack)
{
    return precision == Precision::fp8 ? stack.fp8 : precision;
}

/// Returns the accelerator as seen through the software stack.
Accelerator under(const Accelerator& accelerator, const SoftwareStack& stack);
struct NetworkTier;
/// Returns the tier as seen through the software stack.
NetworkTier under(const NetworkTier& tier, const SoftwareStack& stack);
struct Cluster;
struct PossibleSoftware;
/// Returns the cluster as it is with other software.
Cluster with_software(Cluster cluster, const PossibleSoftware& other);

/// How a tier joins its GPUs: by switches, by a link between each two, or by links to the neighbours in a
/// grid whose axes may be closed to rings (model/hardware/torus.hpp).
enum class Topology { switched, full_mesh, torus };
template <>
inline constexpr auto names_of<Topology> = std::to_array<Named<Topology>>({{Topology::switched, "switched"},
                                                                           {Topology::full_mesh, "full_mesh"},
                                                                           {Topology::torus, "torus"}});

/// What a tier joins: GPUs of a node (or of a rack that is one NVLink domain), which write to each other's
/// memory, or nodes by their network adapters.
enum class TierKind { by_position, node, network };
template <>
inline constexpr auto names_of<TierKind> = std::to_array<Named<TierKind>>(
    {{TierKind::by_position, "by-position"}, {TierKind::node, "node"}, {TierKind::network, "network"}});

/// One tier of the network. It forms units of `group_gpus` GPUs; the first tier is
/// the innermost (NVLink domain).
struct NetworkTier {
    std::string name;
    int group_gpus = 0;        // GPUs that this tier joins; the last tier joins the whole cluster
    BytesPerSecond bandwidth;  // per GPU and direction, from the datasheet; in a torus per link and direction
    double efficiency = 1.0;   // fraction of it that rings of large collectives reach (bus bandwidth)
    Seconds latency;           // one hop of a ring on this tier, for long messages
    // 7: the members' total bandwidth is 7 times the uplink bandwidth of the unit below
    double oversubscription = 1.0;
    double in_network = 0.0;  // half the bus bandwidth of in-network reductions over the bandwidth; 0: none
    // fraction of it that a message between two GPUs reaches; 0: as large collectives
    double point_to_point = 0.0;
    // share of `efficiency` that all-to-alls reach; 0: all in nodes, CollectiveLibrary's between them
    double all_to_all = 0.0;
    TierKind kind = TierKind::by_position;  // by position: the first tier is the node
    // of `bandwidth`, drawn whether it is used or not; 0: as usual (hardware_power.hpp)
    JoulesPerByte energy{};

    // For a tier that joins buildings, campuses or regions:
    // Total bandwidth out of one unit of the tier below, per direction; 0: limited by its GPUs' links.
    BytesPerSecond aggregate{0.0};
    double loss = 0.0;  // fraction of packets lost

    Topology topology = Topology::switched;
    // [axis] of a torus: GPUs along it; consecutive GPUs in placement lie along the first axis
    std::vector<int> shape{};
    std::vector<bool> wrap{};  // [axis]: closed to a ring

    std::string catalog_entry{};  // link that the numbers are from, even if some were changed; empty: none

    bool circuit() const { return aggregate.si > 0.0; }
    /// Returns what arrives of one GPU's flow, retransmissions deducted.
    BytesPerSecond goodput(BytesPerSecond rate) const;
};

/// A library of collectives: what a message costs beside its bytes. As declared here,
/// nothing. docs/methods/collectives.md.
struct CollectiveLibrary {
    std::string name;
    // A collective begins with the launch of its kernel and the first exchange of flags.
    Seconds start{0.0};
    Seconds low_latency_start{0.0};          // with the protocol for short messages
    double low_latency_in_nodes = 1.0;       // share of a hop's software latency that it has there,
    double low_latency_between_nodes = 1.0;  // and there,
    double low_latency_bandwidth = 1.0;      // and of the bandwidth
    Seconds in_network_start{0.0};           // of sums in switches
    int in_network_from = 1;                 // fewest members of a node that use them
    double fill = 0.0;                 // of the latency of two hops, for which each chunk of a pipeline waits
    bool overlaps_levels = true;       // trees pass chunks on between nodes while they sum others inside
    double trees_between_nodes = 1.0;  // bandwidth of their trees over that of their rings
    double all_to_all_between_nodes = 1.0;  // of their direct messages over that of their rings
    Seconds all_to_all_start{0.0};          // of an all-to-all that leaves the node
    BytesPerSecond token_kernels{
        std::numeric_limits<double>::infinity()};  // most that kernels which send tokens once reach in a node
    bool own = false;                              // a user's, which the fit does not know

    bool operator==(const CollectiveLibrary&) const = default;
};

/// Treatment of nodes without a measured factor: drawn at random, or nominal (as the catalog's accelerator).
enum class UnlistedNodes { drawn, nominal };
template <>
inline constexpr auto names_of<UnlistedNodes> = std::to_array<Named<UnlistedNodes>>(
    {{UnlistedNodes::drawn, "drawn"}, {UnlistedNodes::nominal, "nominal"}});

/// A constant of the catalog, and its factor by steps that were measured on a cluster.
struct LearnedConstant {
    std::string key;                   // "gemm"
    std::vector<std::string> entries;  // of the catalog's accelerators, stacks or links that have it
    double factor = 1.0;
};

/// Training software as users name it. A SoftwareStack has its constants.
struct Software {
    std::string name = SoftwareStack{}.name;  // of the catalog's software
    std::string release{};                    // empty: it has none
    std::string trainer{};  // whose rules say which plans it runs (io/trainers/); empty: any

    std::string text() const { return release.empty() ? name : name + " " + release; }
};

/// What may run a job whose software is not given.
struct PossibleSoftware {
    Software software;
    SoftwareStack stack;
    CollectiveLibrary library;
    double weight = 1.0;  // probability
    std::string reason{};
};

/// A cluster: accelerators, network tiers, price, and known node factors.
struct Cluster {
    std::string name;
    Accelerator accelerator;
    int gpus = 0;
    // innermost first; group_gpus nest, but for the last, which joins all GPUs, however many
    std::vector<NetworkTier> tiers;
    DollarsPerSecond gpu_price;  // per GPU, with its share of the cluster
    SoftwareStack stack;         // already applied to `accelerator`
    CollectiveLibrary library;
    Software software{};  // whose constants are in `stack`
    // if it was not given: the first is assumed, weights sum to one; empty: it was given
    std::vector<PossibleSoftware> possible{};
    bool flat_collectives = false;     // one ring through all members, also across circuits
    KernelSpeeds speed;                // kernel speeds of what-ifs; faster kernels hide less communication
    std::vector<double> node_factors;  // [node]: factor of compute times, or drawn_node; empty: all are drawn
    UnlistedNodes unlisted_nodes = UnlistedNodes::drawn;  // nodes missing from a list of node factors
    std::vector<LearnedConstant> learned;                 // already applied to accelerator, tiers and stack
    double learned_time = 1.0;                            // factor of all times of a step, already applied
    Watts added_power{};  // per GPU at all times: of links and memory, beyond that of the board and the host
    Watts added_link_power{};  // the share of links in it: negative if they draw less than those in the host

    static constexpr double drawn_node = 0.0;  // the factors of the node and its GPUs are drawn per fleet

    bool nodes_listed() const { return !node_factors.empty(); }
    /// Whether the factors of all nodes are known.
    bool nodes_known() const
    {
        return nodes_listed() &&
               std::find(node_factors.begin(), node_factors.end(), drawn_node) == node_factors.end();
    }
    /// Returns the factor of nodes missing from a list of factors.
    double unlisted_factor() const { return unlisted_nodes == UnlistedNodes::nominal ? 1.0 : drawn_node; }
    /// Returns the outermost tier of nodes; tiers inside it join parts of them (pairs, tiles).
    std::size_t node_tier() const;
    /// Returns whether a tier joins nodes; one tier of adapters makes each GPU a node.
    bool joins_nodes(std::size_t tier) const
    {
        return tier > node_tier() || tiers[tier].kind == TierKind::network;
    }
    int gpus_per_node() const { return tiers[node_tier()].group_gpus; }
    /// The last node may hold fewer GPUs of the cluster than the others.
    int nodes() const { return (gpus + gpus_per_node() - 1) / gpus_per_node(); }
    bool whole_nodes() const { return gpus % gpus_per_node() == 0; }
    /// Returns the GPUs per building, that is, joined by the tiers below the
    /// first circuit; 0 without circuits.
    int building_gpus() const;
};

}  // namespace prismopt
