#pragma once

/// Passes through a list of operators, derived from what each of them states.

#include "model/network/network.hpp"

namespace prismopt {

Calls forward_calls(const LayerKind& kind, const LayerShape& shape);
/// The adjoints in reverse order.
Calls backward_calls(const LayerKind& kind, const LayerShape& shape, Gradients gradients);
/// What Gradients::input leaves out.
Calls weight_gradient_calls(const LayerKind& kind, const LayerShape& shape);
/// What recompute runs again before the backward pass: all; or what is cheap to compute and large to keep. That is the scores of plain
/// attention, where there are any; else the results of norms and activations (Megatron-Core's `--recompute-modules` core_attn, or
/// layernorm and mlp activation).
Calls recompute_calls(const LayerKind& kind, const LayerShape& shape, Recompute recompute);

/// What a layer keeps under `recompute`. `workspace`: what recompute brings back while it runs.
Kept kept_of(const LayerKind& kind, const LayerShape& shape, Recompute recompute);

Parameters parameters_of(const Operator& part, const Extent& extent);

}  // namespace prismopt
