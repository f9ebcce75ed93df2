#pragma once

/// Times of calls on one cluster.

#include "model/hardware/hardware.hpp"
#include "model/network/calls.hpp"
#include "model/network/pass_builder.hpp"

namespace prismopt {

class CallTimes {
public:
    /// The cluster must outlive it. `precision`: of the linear layers' products.
    CallTimes(Precision precision, const Cluster& cluster);

    /// Against 16-bit numbers.
    double width() const { return width_; }
    Seconds of(const KernelCall& call) const;
    Seconds of(const CollectiveCall& message) const;
    /// Adds the kernels and messages to a pass.
    void add(const Calls& calls, PassBuilder& pass) const;

private:
    /// Compute of shared experts beside each exchange of tokens, of which there is one before the routed experts and one behind them:
    /// as much beside each (Megatron-Core, shared_experts.py: the first product beside the first, the second beside the second).
    Seconds beside_tokens(const std::vector<AnyCall>& list) const;
    Seconds product(const KernelCall& call, Precision precision) const;

    const Cluster& cluster_;
    Precision precision_;
    double width_;
};

}  // namespace prismopt
