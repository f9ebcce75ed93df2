#pragma once

#include "model/network/layer_sizes.hpp"

namespace prismopt {

/// What one layer keeps for its backward pass, bytes on one tensor parallel member. `mixture`: its feed-forward part is one of experts.
class LayerActivations {
public:
    /// Both must outlive it.
    LayerActivations(const Workload& w, const LayerSizes& size) : w_(w), size_(size) {}

    /// Elements of the MLP's inner activation on one member.
    double inner_elements(bool mixture) const;
    /// Bytes kept by one layer. Korthikanti et al., eqs. 1-4, generalised to grouped queries and gated units: two norm inputs
    /// and two norm outputs, the latter kept split and gathered again; Q, K, V and the attention output; pre-activation(s)
    /// and activation; dropout masks. Mixtures: also the permuted inputs and outputs of the experts.
    double saved(bool mixture) const;
    /// Of saved(), what selective recompute does not keep.
    double recomputable(bool mixture) const;
    /// Bytes that weight gradients need: inputs of the four products, and gradients of their outputs. Dense, with f = 4h: 32 s b h
    /// (Qi et al., arXiv 2401.10241, table 1).
    double held(bool mixture) const;

private:
    const Workload& w_;
    const LayerSizes& size_;
};

}  // namespace prismopt
