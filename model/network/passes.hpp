#pragma once

/// Passes through a list of operators, derived from the operators. docs/methods/network-model.md.

#include "model/network/network.hpp"

namespace prismopt {

Calls forward_calls(const LayerKind& kind, const LayerShape& shape);
/// Returns the backward pass: the adjoints in reverse order.
Calls backward_calls(const LayerKind& kind, const LayerShape& shape, Gradients gradients);
/// Returns the part of the backward pass that Gradients::input omits.
Calls weight_gradient_calls(const LayerKind& kind, const LayerShape& shape);
/// Returns the calls of what recompute runs again before the backward pass: all operators, or with selective
/// recompute those of recomputed_operators().
Calls recompute_calls(const LayerKind& kind, const LayerShape& shape, Recompute recompute);

/// Returns the modules that selective recompute covers: an empty set stands for the scores of plain
/// attention, if the layer has some, else for `elementwise`.
ModuleSet modules_run_again(const LayerKind& kind, const ModuleSet& modules);
/// Returns which operators run again if selective recompute covers `modules` [operator].
std::vector<bool> recomputed_operators(const LayerKind& kind, const ModuleSet& modules);

/// Returns the saved activations of a layer under `recompute`.
Kept kept_of(const LayerKind& kind, const LayerShape& shape, Recompute recompute);

/// Returns the parameters of one operator on one GPU.
Parameters parameters_of(const Operator& op, const Extent& extent);

}  // namespace prismopt
