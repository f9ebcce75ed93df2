#pragma once

/// Parts that several blocks have.

#include "model/network/blocks.hpp"

namespace prismopt {

// Bytes of memory traffic of an elementwise kernel by 16-bit number; from its reads and writes.
inline constexpr double one_pass = 4.0;          // read, write
inline constexpr double two_to_one = 6.0;        // two reads, one write
inline constexpr double backward_traffic = 2.0;  // a backward elementwise kernel reads the saved input as well

/// Of the projection before an activation.
Width columns_of(double inner, Activation activation);

/// Of each token, with `weights` numbers a column.
Elementwise norm_of(const Width& columns, double weights);
double weights_of(Normalisation normalisation);
Operator activation_of(double inner, Activation activation, Place place = Place::columns, const Routing& routing = {});
/// A kernel that multiplies what it reads by a gate of the same width.
Operator gate_of(const Width& width);
/// Up projection (with its gate), activation, down projection. `keeps_input`: false where another operator keeps the same tensor.
void add_mlp(double hidden, double inner, Activation activation, bool bias, bool keeps_input, Block& block);
/// What reads the stream and adds to it: norms where the stream's layers have them, and the sum.
Block branch(const ResidualStream& stream, Block inside);

}  // namespace prismopt
