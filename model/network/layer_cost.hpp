#pragma once

/// What one microbatch costs in the parts of a transformer: kernels, the collectives between them, and what is kept for the
/// backward pass. All times are means, free of noise; laws are composed over the chains elsewhere (model/noise/chain_law.hpp).

#include "model/coupling.hpp"
#include "model/hardware/hardware.hpp"
#include "model/noise/variability.hpp"
#include "model/plan.hpp"
#include "model/network/workload.hpp"

#include <vector>

namespace prismopt {

/// One kernel on one tensor parallel member; `kind` names the law of its residual.
struct Kernel {
    KernelClass kind = KernelClass::gemm;
    double seconds = 0.0;
};

/// Kernels that a member runs without waiting for the others.
using Segment = std::vector<Kernel>;

/// One pass (forward or backward) through a part on one tensor parallel member: segments with a barrier after each, at which
/// the members wait for the slowest, and the blocking collectives at those barriers.
struct PassCost {
    std::vector<Segment> segments;
    std::vector<Meeting> ends;          // [segment]: who meets at its end; a tensor parallel group where the list is shorter
    std::vector<double> collectives_s;  // exposed time of each collective, where that is not zero
    double compute_s = 0.0;             // sums of the above
    double communication_s = 0.0;
};

/// Passes of one part, and bytes kept per microbatch between them. The backward is whole, or in two: the gradient of the input, and
/// that of the weights, which each product has as a GEMM of its own (Qi et al., arXiv 2401.10241, section 2.1; Korthikanti et al.).
/// Paired: a forward and a backward side by side, each one's collectives hidden behind the other's compute as far as that lasts
/// (DeepSeek-AI, arXiv 2412.19437, section 3.2.1).
struct PartCost {
    PassCost forward;
    PassCost backward;
    PassCost input_gradient;
    PassCost weight_gradient;
    PassCost paired_forward;
    PassCost paired_backward;
    double saved_bytes = 0.0;  // kept from forward to backward, or to the gradient of the input
    double held_bytes = 0.0;   // from there to the gradient of the weights: inputs of the products, gradients of their outputs
    double workspace_bytes = 0.0;    // largest temporaries while the part runs, beyond what is saved
    double parameters = 0.0;         // on one tensor parallel member
    double expert_parameters = 0.0;  // of these, of routed experts: replicated over fewer GPUs
};

/// A pass over a chunk: the layer's chain some number of times, and those of the embedding and the head where the chunk holds
/// them. Refers to costs that must outlive it.
struct ChunkPass {
    const PassCost& layer;
    int layers = 0;
    const PassCost* embedding = nullptr;
    const PassCost* head = nullptr;
    const ChunkPass* beside = nullptr;  // a pass of another chunk that is one with this

    double compute_s() const;
    double communication_s() const;

    /// Calls visit(count, cost) for each part.
    template <class Visit>
    void for_parts(Visit&& visit) const
    {
        visit(layers, layer);
        for (const PassCost* part : {embedding, head}) {
            if (part != nullptr) {
                visit(1, *part);
            }
        }
        if (beside != nullptr) {
            beside->for_parts(visit);
        }
    }
};

/// The parts a pipeline chunk is made of.
struct LayerCosts {
    PartCost layer;  // mean over the network where layers differ (dense ones before mixtures, full recompute of some)
    PartCost embedding;
    PartCost head;                   // final norm, logits, loss
    double boundary_bytes = 0.0;     // activation that one tensor parallel member sends to the next stage
    double shared_parameters = 0.0;  // of embedding and head: a tied matrix is there once where one chunk holds both
};

/// Shape of what one call computes.
struct LayerShape {
    int sequence = 0;
    int microbatch = 1;
    int tp = 1;
    bool sequence_parallel = true;
    Recompute recompute = Recompute::none;
    double recomputed = 1.0;  // share of the layers that full recompute covers
    int cp = 1;
    ContextExchange context_exchange = ContextExchange::ring;
    int ep = 1;
    int etp = 1;
    bool tp_overlap = false;
    bool offload = false;  // of activations
    Sharding sharding = Sharding::none;
    int sharding_gpus = 1;
    int sharding_groups = 1;
    DataParallelOverlap dp_overlap = DataParallelOverlap::on;

    auto operator<=>(const LayerShape&) const = default;
};
LayerShape layer_shape(const ParallelPlan& plan, int sequence, int layers);

/// Kernels, collectives and saved tensors of the parts under tensor parallelism as in Megatron-LM.
///
/// Sources: FLOPs and saved activations, Korthikanti et al., "Reducing activation recomputation in large transformer
/// models", arXiv 2205.05198, sections 4 and 5; order of collectives, Shoeybi et al., arXiv 1909.08053, section 3;
/// flash attention's 2.5 times as much work backward as forward, Dao, arXiv 2307.08691, section 4.1.
/// Mixtures: tokens go to the experts and back in two all-to-alls a pass, Lepikhin et al., arXiv 2006.16668, section 2.2; groups
/// and order as in Megatron-Core. Sharded parameters are gathered beside the compute of the layer before, Zhao et al., arXiv
/// 2304.11277, section 3.3; what compute does not hide is exposed, and what it hides takes multiprocessors from it.
/// Leaves out: pipelining of expert all-to-alls with compute, weight casts of fp8 (once a step).
LayerCosts layer_costs(const Workload& workload, const LayerShape& shape, const Cluster& cluster);

/// Bytes that the optimizer moves per parameter that it owns: reads gradient, two moments and master copy (4 x 4), writes
/// moments, master copy and 16-bit parameter (3 x 4 + 2), and the norm and clearing of gradients (8).
inline constexpr double optimizer_traffic_per_parameter = 38.0;
/// Bytes per parameter that an update on the host sends there (16-bit gradients) and back (16-bit parameters), one after the
/// other (Ren et al., ZeRO-Offload, arXiv 2101.06840, section 4.1).
inline constexpr double offloaded_update_traffic = 4.0;

/// Time of updating `parameters`, on the accelerator or on the host.
Seconds update_time(double parameters, Offload offload, const Accelerator& accelerator);

}  // namespace prismopt
