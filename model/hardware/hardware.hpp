#pragma once

/// On what it is trained: an accelerator, the nested tiers of its network, and the cluster they form.

#include "model/base/names.hpp"
#include "model/base/units.hpp"
#include "model/hardware/kernel_class.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace prismopt {

/// Numbers in which the products of linear layers are computed. Attention, normalisation and the loss stay in 16 bits (32 under
/// fp32 and tf32), as in NVIDIA's Transformer Engine.
enum class Precision { fp32, tf32, bf16, fp8, nvfp4 };
template <>
inline constexpr auto names_of<Precision> = std::to_array<Named<Precision>>({{Precision::fp32, "fp32"},
                                                                             {Precision::tf32, "tf32"},
                                                                             {Precision::bf16, "bf16"},
                                                                             {Precision::fp8, "fp8"},
                                                                             {Precision::nvfp4, "nvfp4"}});

/// Shares of the peak that kernels reach, fitted to measured runs (the catalog names them); dimensionless.
struct Efficiency {
    double gemm = 0.0;       // large matrix products, before tile and wave quantisation
    double attention = 0.0;  // fused attention, forward
    double attention_backward = 0.0;
    double memory = 0.0;    // elementwise kernels, against memory bandwidth
    double gemm_low = 0.0;  // products in 8 and 4 bits, of their own peaks; 0: as `gemm`

    bool operator==(const Efficiency&) const = default;
};

struct Accelerator {
    std::string name;
    FlopsPerSecond peak_bf16;  // dense, without sparsity; of 16-bit numbers
    int multiprocessors = 0;   // for wave quantisation
    Bytes memory;
    Bytes memory_reserved;  // CUDA context, communication buffers, fragmentation
    BytesPerSecond memory_bandwidth;
    Watts power;     // board limit
    Seconds launch;  // gap between consecutive kernels
    Efficiency efficiency;
    double model_error = 0.0;  // relative: the model interval is never narrower than this
    // Dense peaks of other numbers; zero: the accelerator has no such products.
    FlopsPerSecond peak_fp32{0.0};
    FlopsPerSecond peak_tf32{0.0};
    FlopsPerSecond peak_fp8{0.0};
    FlopsPerSecond peak_fp4{0.0};

    // The host's share for this accelerator: of the link to it, per direction, and of its memory; zero: nothing can be kept there.
    BytesPerSecond host_link{0.0};
    BytesPerSecond host_memory_bandwidth{0.0};

    std::string catalog_entry{};  // whose numbers these are, or were before some were changed; empty: of no entry

    bool operator==(const Accelerator&) const = default;

    /// Peak of dense products; zero where the accelerator has none in this precision.
    FlopsPerSecond peak(Precision precision) const;
};

/// What a framework and its release make of an accelerator and its network. The factors multiply the accelerator's shares of the
/// peak, so that both can be fitted on runs that have only one of them in common.
struct SoftwareStack {
    std::string name = "reference";
    double gemm = 1.0;
    double attention = 1.0;
    double memory = 1.0;               // below one where elementwise kernels are not fused
    Seconds launch{0.0};               // added to the accelerator's gap between kernels
    Seconds step{0.0};                 // once a step: data, loss, logging, gradient norm
    double gradient_bytes = 4.0;       // of one number in the reduction of gradients
    double routing = 1.0;              // factor of the memory traffic of routing, permuting and combining tokens
    double network = 1.0;              // factor of the links' efficiency
    bool sends_once = false;           // a token goes once to each node that has experts for it (DeepEP), not once an expert
    double loss_traffic = 24.0;        // bytes moved per logit by the loss, forward and backward
    double messages = 1.0;             // collectives in which the parameters of a layer are gathered
    Seconds host{0.0};                 // of the processor that launches a kernel: no pass is shorter than its kernels' sum
    double communication_share = 0.1;  // share of the multiprocessors that a collective beside compute takes from it
    bool waits_for_chunks =
        false;  // a stage of an interleaved schedule exchanges what a forward and a backward give, then goes on
};

/// The accelerator as programs of the stack find it.
Accelerator under(const Accelerator& accelerator, const SoftwareStack& stack);
/// The same of a link.
struct NetworkTier;
NetworkTier under(const NetworkTier& tier, const SoftwareStack& stack);

/// One level of the network. A tier joins units of `group_gpus` GPUs; the first is the innermost (NVLink domain).
struct NetworkTier {
    std::string name;
    int group_gpus = 0;             // GPUs that this tier joins; the last tier joins the whole cluster
    BytesPerSecond bandwidth;       // per GPU and direction, as the datasheet says
    double efficiency = 1.0;        // share of it that large collectives reach (bus bandwidth)
    Seconds latency;                // one hop of a ring on this tier, of a long message
    double oversubscription = 1.0;  // 7 means: the sum of the members' bandwidth is 7 times what leaves the unit below
    double in_network = 0.0;        // share of the bandwidth that sums in the switches reach; 0: switches do not add
    double point_to_point = 0.0;    // share of it that one GPU's message to one other reaches; 0: as large collectives

    // Of a tier that joins buildings, campuses or regions:
    BytesPerSecond aggregate{
        0.0};           // of all that leaves one unit of the tier below, per direction; 0: its GPUs' links are the limit
    double loss = 0.0;  // share of packets that arrive nowhere

    std::string catalog_entry{};  // link whose numbers these are, or were before some were changed; empty: of no entry

    bool circuit() const { return aggregate.si > 0.0; }
    /// What of the bandwidth large collectives reach, after what is sent again.
    double reached() const;
};

/// What nodes are like that nobody has measured: luck, as on any cluster of the kind, or as the catalog's accelerator.
enum class UnlistedNodes { drawn, nominal };
template <>
inline constexpr auto names_of<UnlistedNodes> = std::to_array<Named<UnlistedNodes>>({{UnlistedNodes::drawn, "drawn"},
                                                                                     {UnlistedNodes::nominal, "nominal"}});

struct Cluster {
    std::string name;
    Accelerator accelerator;
    int gpus = 0;
    std::vector<NetworkTier> tiers;    // innermost first; group_gpus nest
    DollarsPerSecond gpu_price;        // of one GPU with its share of the cluster
    SoftwareStack stack;               // already part of `accelerator`
    bool flat_collectives = false;     // one ring through all members, also across circuits
    KernelSpeeds speed;                // of a what-if: faster kernels hide less, and what is hidden behind them shows
    std::vector<double> node_factors;  // [node]: how much longer each computes, or drawn_node; empty: all are drawn
    UnlistedNodes unlisted_nodes = UnlistedNodes::drawn;  // of lists of node factors

    static constexpr double drawn_node = 0.0;  // its factor and its GPUs' are drawn by fleet

    bool nodes_listed() const { return !node_factors.empty(); }
    /// All of them.
    bool nodes_known() const
    {
        return nodes_listed() && std::find(node_factors.begin(), node_factors.end(), drawn_node) == node_factors.end();
    }
    /// Of nodes that a list of factors leaves out.
    double unlisted_factor() const { return unlisted_nodes == UnlistedNodes::nominal ? 1.0 : drawn_node; }
    int gpus_per_node() const { return tiers.front().group_gpus; }
    int nodes() const { return gpus / gpus_per_node(); }
    /// GPUs that the tiers below the first circuit join; 0: there are no circuits.
    int building_gpus() const;
};

}  // namespace prismopt
