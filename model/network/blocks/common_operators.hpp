#pragma once

/// Operators common to several blocks.

#include "model/network/blocks.hpp"

namespace prismopt {

// Bytes of memory traffic of an elementwise kernel per 16-bit element, from its reads and writes.
inline constexpr double one_pass = 4.0;    // read, write
inline constexpr double two_to_one = 6.0;  // two reads, one write
// A backward elementwise kernel reads the saved input as well.
inline constexpr double backward_traffic = 2.0;

/// Returns the width of the projection before an activation.
Width columns_of(double inner, Activation activation);

/// Returns a norm over the columns of each token, with `weights` parameters per column.
Elementwise norm_of(const Width& columns, double weights);
/// Returns the parameters per column of a norm.
double weights_of(Normalisation normalisation);
/// Returns an activation, gated or not.
Operator activation_of(double inner, Activation activation, Place place = Place::columns,
                       const Routing& routing = {});
/// Returns a kernel that multiplies its input by a gate of the same width.
Operator gate_of(const Width& width);
/// Appends up-projection (with its gate), activation and down-projection. `keeps_input`: false if another
/// operator saves the same tensor.
void add_mlp(double hidden, double inner, Activation activation, bool bias, bool keeps_input, Block& block);
/// Returns the operators as parts of further modules.
Block in_modules(Block block, const ModuleSet& modules);
/// Returns a branch of the residual stream: norms where the stream's layers have them,
/// `inside`, and the residual addition.
Block branch(const ResidualStream& stream, Block inside);

}  // namespace prismopt
