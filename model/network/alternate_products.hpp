#pragma once

/// Selective recompute by operators as torchtitan does it (distributed/activation_checkpoint.py,
/// selective_ac_option = "op"): the results of attention, of all-to-alls and reduce-scatters of tokens, and
/// of every second product outside routed experts are saved; all else runs again. Products count in the order
/// in which they run, queries, keys and values as three and a gated MLP's first ones as two.

#include "model/network/network.hpp"

#include <vector>

namespace prismopt {

/// Returns the share of each operator's result that is saved, [operator].
std::vector<double> alternately_saved(const LayerKind& kind);
/// Returns what a layer keeps: its input and what is saved.
Kept alternately_kept(const LayerKind& kind, const LayerShape& shape);
/// Returns the forward calls that run again.
Calls alternate_calls(const LayerKind& kind, const LayerShape& shape);

}  // namespace prismopt
