#pragma once

/// Gradients and parameters between data parallel replicas: what of their exchange is not hidden by compute.

#include "model/hardware/collective.hpp"
#include "model/hardware/hardware.hpp"
#include "model/plan/placement.hpp"
#include "model/plan/plan.hpp"
#include "model/step/graph/exchange.hpp"
#include "model/step/graph/memory.hpp"

namespace prismopt {

/// Time of an exchange, and the share of it that all-reduces take.
struct ExchangeTime {
    double seconds = 0.0;
    double all_reduce = 0.0;
};

/// Exchange of one plan. Gradients are reduced over cp*dp GPUs, those of routed experts over tp*cp*dp / (ep*etp).
///
/// With overlap a chunk's gradients leave in buckets of one layer while its last backward pass goes on, and its parameters arrive
/// in buckets while its first forward pass goes on (Li et al., PyTorch Distributed, VLDB 2020, section 3.2; Megatron-Core's
/// distributed optimizer). How much of it compute hides is found draw by draw (model/step/graph/exchange.hpp); times are means.
/// ZeRO-2 and ZeRO-3 do both inside each layer's passes (model/network/layer_cost.hpp); here the first gather and the last
/// reduction, which have nothing to hide behind, remain.
class DataParallel {
public:
    DataParallel(const ParallelPlan& plan, const Cluster& cluster, const OptimizerSettings& optimizer = {});

    /// Reduction beside and after the last backward pass of a chunk. `last`: of its stage, so that no other reduction is waited
    /// for.
    Exchange reduction(const Parameters& own, const ChunkPass& backward, int layers, bool last) const;
    /// Gathering before and beside the first forward pass of a chunk.
    Exchange gathering(const Parameters& own, const ChunkPass& forward, int layers) const;
    /// The network tier that holds all members.
    std::size_t tier() const { return tier_around(replicas_, cluster_); }
    /// Parameters that one GPU updates.
    double updated(const Parameters& own) const;

private:
    ExchangeTime time(Collective kind, double bytes_per_parameter, const Parameters& own, int layers) const;
    /// Beside `compute_s`, in a bucket a layer; across circuits, whose latency each bucket pays, in as few as is best.
    Exchange in_buckets(Collective kind, double bytes_per_parameter, const Parameters& own, int layers, double compute_s) const;

    const ParallelPlan& plan_;
    const Cluster& cluster_;
    double gradient_message_;  // bytes of a number
    Group replicas_;
    Group sharded_;
    Group expert_replicas_;
    bool crosses_circuits_ = false;
};

}  // namespace prismopt
