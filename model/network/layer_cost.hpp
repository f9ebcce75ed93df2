#pragma once

/// Costs of one microbatch in the parts of a network: kernels, the collectives between them, and saved
/// activations. All times are noise-free means; distributions are composed over the chains elsewhere
/// (model/distribution/chain_distribution.hpp).

#include "model/hardware/hardware.hpp"
#include "model/network/network.hpp"
#include "model/plan/coupling.hpp"
#include "model/plan/group_places.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace prismopt {

/// One kernel on one tensor-parallel rank; `kind` is the class of its residual distribution.
struct Kernel {
    KernelClass kind = KernelClass::gemm;
    double seconds = 0.0;
};

/// Kernels that a rank runs without waiting for others.
using Segment = std::vector<Kernel>;

/// Exposed part of one collective, or of several beside the same compute, which share one draw.
struct Exposed {
    struct Share {
        KernelClass kind;
        double share;  // of the time; shares sum to one
    };
    using Shares = boost::container::static_vector<Share, 3>;

    double seconds = 0.0;
    Shares shares;
    Surplus surplus{};  // of routed tokens
    // part of `seconds`: compute that takes longer because the collective runs beside it
    double slowed_s = 0.0;
};

/// One pass (forward or backward) through a part on one tensor-parallel rank: segments with a barrier after
/// each, at which the members wait for the slowest, and the exposed collectives at those barriers.
struct PassCost {
    std::vector<Segment> segments;
    // [segment]: group that synchronises at its end; tensor-parallel if the list is shorter
    std::vector<Meeting> ends;
    std::vector<Exposed> exposed;  // of each collective, if not zero
    std::vector<Kernel> hidden;    // of each collective, what compute hides
    double surplus_s = 0.0;        // part of compute_s: on tokens beyond the mean of an expert-parallel group
    double surplus_most = 0.0;     // its upper limit over its mean, set by a capacity; infinity: none
    double host_s = 0.0;           // part of compute_s: the accelerator waits for launches by the host
    double compute_s = 0.0;        // sums of the above
    double communication_s = 0.0;
    // part of compute_s: has a collective of this pass beside it, so no other can hide there
    double hiding_s = 0.0;
    // Messages, hidden ones too, by the slowest links that they use:
    double in_nodes_s = 0.0;
    double between_nodes_s = 0.0;

    double free_s() const { return std::max(0.0, compute_s - hiding_s); }
};

/// Passes of one part, and bytes saved per microbatch between them. The backward pass is whole, or split
/// into the gradient of the input and that of the weights, each a GEMM of its own (Qi et al., arXiv
/// 2401.10241, section 2.1; Korthikanti et al.). Paired: a forward and a backward pass side by side,
/// each one's collectives hidden behind what the other's compute does not hide of its own (DeepSeek-AI,
/// arXiv 2412.19437, section 3.2.1).
struct LayerCost {
    PassCost forward;
    PassCost backward;
    PassCost input_gradient;
    PassCost weight_gradient;
    PassCost paired_forward;
    PassCost paired_backward;
    double saved_bytes = 0.0;  // from the forward pass to the backward pass, or to the gradient of the input
    // from there to the gradient of the weights: inputs of products, gradients of their outputs
    double held_bytes = 0.0;
    double workspace_bytes = 0.0;  // largest temporaries while the part runs, in addition to saved bytes
    double cached_bytes = 0.0;     // freed blocks of it that the allocator keeps
    double dummy_bytes = 0.0;      // MemoryRules::dummy_gradients
    Parameters parameters;         // on one GPU
    double input_bytes = 0.0;      // input sent to one tensor-parallel rank if a stage begins with the part
    bool needs_gradient = true;    // whether its input needs a gradient
    double orthogonal_s = 0.0;     // orthogonalisation of its matrices' updates, all on one GPU (Muon)
};

/// A pass over a chunk: its parts with their counts. Refers to costs that must outlive it.
struct ChunkPass {
    struct CountedPass {
        const PassCost* cost;
        int count;
    };
    boost::container::small_vector<CountedPass, 4> passes;
    const ChunkPass* beside = nullptr;  // pass of another chunk that runs as one with this

    ChunkPass() = default;
    ChunkPass(const PassCost& cost, int count) : passes{{&cost, count}} {}
    ChunkPass(std::initializer_list<CountedPass> list) : passes(list) {}

    double compute_s() const;
    double communication_s() const;
    /// Returns how long the accelerator waits for launches, as part of compute_s().
    double host_s() const;
    /// Returns how long its messages use links inside or between nodes, hidden ones too.
    double messages_s(bool between_nodes) const;

    /// Calls visit(count, cost) for each part.
    template <class Visit>
    void for_each_pass(Visit&& visit) const
    {
        for (const CountedPass& pass : passes) {
            visit(pass.count, *pass.cost);
        }
        if (beside != nullptr) {
            beside->for_each_pass(visit);
        }
    }
};

/// Costs of the parts of pipeline chunks.
struct LayerCosts {
    // of layers; if full recompute covers some layers, each kind without and with it
    std::vector<LayerCost> kinds;
    std::vector<int> layers;  // [layer]: index in kinds
    LayerCost embedding;
    LayerCost head;  // final norm, logits, loss

    /// Returns the most frequent kind of layer.
    const LayerCost& typical() const;
};

/// Returns the costs of a network's parts. Sharded parameters are gathered beside the compute of the layer
/// before (Zhao et al., arXiv 2304.11277, section 3.3); the part that compute does not hide is exposed, and
/// the hidden part slows the compute. A second of compute hides at most a second of collectives
/// (docs/methods/collectives.md, "What hides what"). Not modelled: weight casts of fp8 (once per step).
/// `groups`: where those of a stage lie, whose sizes must be those of the shape.
LayerCosts layer_costs(const Network& network, Precision precision, const LayerShape& shape,
                       const LayerGroups& groups, const Cluster& cluster);

/// Returns the time of updating the parameters that one GPU owns, in matrices and others, on
/// the accelerator or on the host.
Seconds update_time(double matrices, double others, const OptimizerSettings& optimizer, Offload offload,
                    const Accelerator& accelerator);

}  // namespace prismopt
