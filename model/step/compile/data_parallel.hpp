#pragma once

/// Exposed exchange of gradients and parameters between data-parallel replicas.
/// docs/methods/collectives.md.

#include "model/hardware/group.hpp"
#include "model/hardware/hardware.hpp"
#include "model/plan/group_places.hpp"
#include "model/plan/plan.hpp"
#include "model/step/compile/memory.hpp"
#include "model/step/graph/exchange.hpp"

namespace prismopt {

/// Time of an exchange, and the share of it in all-reduces.
struct ExchangeTime {
    double seconds = 0.0;
    double all_reduce = 0.0;
};

/// Exchange of one plan. Gradients are reduced over cp*dp GPUs, those of routed
/// experts over tp*cp*dp / (ep*etp).
///
/// With overlap a chunk's gradients leave in buckets of one layer during its last backward pass, and its
/// parameters arrive in buckets during its first forward pass (Li et al., PyTorch Distributed, VLDB 2020,
/// section 3.2; Megatron-Core's distributed optimizer), while no message of that pass uses the same
/// links. How much compute hides is computed per draw (model/step/graph/exchange.hpp); times are means.
/// ZeRO-2 and ZeRO-3 do both inside each layer's passes (model/network/layer_cost.hpp), except the first
/// gather and the last reduction; with software that gathers once, ZeRO-2 gathers as ZeRO-1 does.
class DataParallel {
public:
    /// `groups`: of one stage. All arguments must outlive the object.
    DataParallel(const ParallelPlan& plan, const ExchangeGroups& groups, const Cluster& cluster,
                 const OptimizerSettings& optimizer);

    /// Returns the reduction beside and after the last backward pass of a chunk. `last`: the chunk is the
    /// last of its stage, so that no other reduction follows.
    Exchange reduction(const Parameters& own, const ChunkPass& backward, int layers, bool last) const;
    /// Returns the gathering before and beside the first forward pass of a chunk.
    Exchange gathering(const Parameters& own, const ChunkPass& forward, int layers) const;
    /// Returns the network tier that holds all members.
    std::size_t tier() const;
    /// Returns the number of parameters that one GPU updates.
    double updated(const Parameters& own) const;

private:
    ExchangeTime time(Collective kind, double bytes_per_parameter, const Parameters& own, int layers) const;
    /// Returns the time of a pass in which the exchange has its links.
    double time_beside(const ChunkPass& pass) const;
    /// Returns the exchange beside `compute_s`, in one bucket per layer; across circuits, whose latency each
    /// bucket pays, in the best number of buckets.
    Exchange in_buckets(Collective kind, double bytes_per_parameter, const Parameters& own, int layers,
                        double compute_s) const;

    const ParallelPlan& plan_;
    const Cluster& cluster_;
    double gradient_message_;   // bytes per element
    double parameter_message_;  // same
    const ExchangeGroups& groups_;
    bool crosses_circuits_ = false;
};

}  // namespace prismopt
