#pragma once

/// What one microbatch costs in the parts of a network: kernels, the collectives between them, and what is kept for the
/// backward pass. All times are means, free of noise; laws are composed over the chains elsewhere (model/distribution/chain_law.hpp).

#include "model/hardware/hardware.hpp"
#include "model/network/network.hpp"
#include "model/plan/coupling.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>

#include <initializer_list>
#include <vector>

namespace prismopt {

/// One kernel on one tensor parallel member; `kind` names the law of its residual.
struct Kernel {
    KernelClass kind = KernelClass::gemm;
    double seconds = 0.0;
};

/// Kernels that a member runs without waiting for the others.
using Segment = std::vector<Kernel>;

/// What a pass waits for of one collective, or of several beside the same compute, which share one draw.
struct Exposed {
    struct Part {
        KernelClass kind;
        double share;  // of the time; shares sum to one
    };
    using Parts = boost::container::static_vector<Part, 3>;

    double seconds = 0.0;
    Parts parts;
    Surplus surplus{};  // of routed tokens
};

/// One pass (forward or backward) through a part on one tensor parallel member: segments with a barrier after each, at which
/// the members wait for the slowest, and the blocking collectives at those barriers.
struct PassCost {
    std::vector<Segment> segments;
    std::vector<Meeting> ends;     // [segment]: who meets at its end; a tensor parallel group where the list is shorter
    std::vector<Exposed> exposed;  // of each collective, where that is not zero
    double surplus_s = 0.0;        // part of compute_s: on tokens beyond the mean of an expert parallel group's members
    double surplus_most = 0.0;     // ... over its mean, where a capacity ends it; infinity: nothing does
    double compute_s = 0.0;        // sums of the above
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
    double workspace_bytes = 0.0;  // largest temporaries while the part runs, beyond what is saved
    Parameters parameters;         // on one GPU
    double input_bytes = 0.0;      // of its input, that one tensor parallel member is sent where a stage begins with it
    bool needs_gradient = true;    // whether its input does
    double orthogonal_s = 0.0;     // making its matrices' updates orthogonal, all of them on one GPU (Muon)
};

/// A pass over a chunk: its parts, each some number of times. Refers to costs that must outlive it.
struct ChunkPass {
    struct Part {
        const PassCost* cost;
        int count;
    };
    boost::container::small_vector<Part, 4> parts;
    const ChunkPass* beside = nullptr;  // a pass of another chunk that is one with this

    ChunkPass() = default;
    ChunkPass(const PassCost& cost, int count) : parts{{&cost, count}} {}
    ChunkPass(std::initializer_list<Part> list) : parts(list) {}

    double compute_s() const;
    double communication_s() const;

    /// Calls visit(count, cost) for each part.
    template <class Visit>
    void for_parts(Visit&& visit) const
    {
        for (const Part& part : parts) {
            visit(part.count, *part.cost);
        }
        if (beside != nullptr) {
            beside->for_parts(visit);
        }
    }
};

/// The parts that pipeline chunks are made of.
struct LayerCosts {
    std::vector<PartCost> kinds;  // of layers; where full recompute covers some layers, each kind without and with it
    std::vector<int> layers;      // [layer]: index among the kinds
    PartCost embedding;
    PartCost head;  // final norm, logits, loss

    /// The kind that most layers are.
    const PartCost& typical() const;
};

/// Sharded parameters are gathered beside the compute of the layer before, Zhao et al., arXiv 2304.11277, section 3.3; what compute
/// does not hide is exposed, and what it hides takes multiprocessors from it.
/// Leaves out: weight casts of fp8 (once a step).
LayerCosts layer_costs(const Network& network, Precision precision, const LayerShape& shape, const Cluster& cluster);

/// Bytes per parameter that an update on the host sends there (16-bit gradients) and back (16-bit parameters), one after the
/// other (Ren et al., ZeRO-Offload, arXiv 2101.06840, section 4.1).
inline constexpr double offloaded_update_traffic = 4.0;

/// Time of updating parameters that one GPU owns, of matrices and of others, on the accelerator or on the host.
Seconds update_time(double matrices, double others, const OptimizerSettings& optimizer, Offload offload,
                    const Accelerator& accelerator);

}  // namespace prismopt
