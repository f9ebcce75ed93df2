#pragma once

/// Mean times of kernels and messages on one cluster. docs/methods/kernel-times.md.

#include "model/hardware/kernel_time.hpp"
#include "model/network/calls.hpp"
#include "model/network/network.hpp"
#include "model/network/pass_builder.hpp"

namespace prismopt {

/// Returns the work of a call of fused attention.
AttentionWork attention_work(const KernelCall& call);

/// Returns the precision of a kernel's products where those of linear layers have `of_layers`. Attention,
/// scans and layers that stay wide multiply in 16 bits.
Precision precision_of(const KernelCall& call, Precision of_layers);

/// Returns the rate of all products of training a network, each at the dense peak of its precision:
/// the operations of model_flops_per_sequence() over the sum of operations / peak. The denominator
/// of the model FLOP utilisation.
FlopsPerSecond peak_of_products(const Network& network, int sequence, Precision precision,
                                const Accelerator& accelerator);

/// Times of calls for one precision.
class CallTimes {
public:
    /// The cluster and the groups must outlive this object. `precision`: of the products of linear layers.
    CallTimes(Precision precision, const Cluster& cluster, const LayerGroups& groups);

    /// Returns the width of activations relative to 16 bits: 1 or 2.
    double width() const { return width_; }
    Seconds of(const KernelCall& call) const;
    Seconds of(const CollectiveCall& message) const;
    /// Returns what casts of the operands of a pass move, zero in 16 bits and more.
    Bytes cast_bytes(const Calls& calls) const;
    /// Returns how the host launches each kernel, and the casts for it: not at all in a CUDA graph.
    Launches launches_of(const KernelCall& call) const;
    /// Returns the energy of the kernels of a pass beyond waiting, by their
    /// operations and their memory traffic.
    Joules energy(const Calls& calls) const;
    /// Adds the kernels and messages to a pass.
    void add(const Calls& calls, PassBuilder& pass) const;

private:
    /// Compute of shared experts beside exchanges of tokens: equal shares for the exchange before and
    /// the one after the routed experts (Megatron-Core, shared_experts.py: the first product beside
    /// the first, the second beside the second; it does not overlap the products of shared experts with
    /// tensor-parallel collectives).
    struct TokenCover {
        int exchanges = 0;
        Seconds each{0.0};
    };
    bool fuses_experts() const;
    Bytes traffic_of(const KernelCall& call) const;
    TokenCover beside_tokens(const std::vector<AnyCall>& list) const;
    Seconds product(const KernelCall& call, Precision precision) const;

    const Cluster& cluster_;
    const LayerGroups& groups_;
    Precision precision_;
    double width_;
};

}  // namespace prismopt
