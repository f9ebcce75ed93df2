#pragma once

/// Mean times of single kernels on one accelerator, free of noise: a roofline whose compute roof depends on the shape.

#include "model/base/units.hpp"
#include "model/hardware/hardware.hpp"

namespace prismopt {

/// C[m, n] = A[m, k] B[k, n] in 16-bit numbers with 32-bit sums, or in another precision; the result is at least 16-bit.
///
/// The output is cut into tiles, a wave of tiles fills the multiprocessors, and the last wave may be part empty; the tile
/// shape with the shortest time is taken, as cuBLAS' heuristic does. Short k pays for filling the pipeline; n and k
/// that are no multiple of 8 for rows that cannot be loaded whole.
/// Source: NVIDIA, "Matrix Multiplication Background User's Guide", sections on tile and wave quantisation.
/// Leaves out: split-k and stream-k kernels, clocks that depend on the data.
Seconds gemm_time(double m, double n, double k, const Accelerator& accelerator, Precision precision = Precision::bf16);

/// `groups` products of the same shape in one kernel (experts of a mixture): their tiles share the waves.
Seconds grouped_gemm_time(double groups, double m, double n, double k, const Accelerator& accelerator,
                          Precision precision = Precision::bf16);

/// Bytes of a number in a precision's products.
double operand_bytes(Precision precision);

/// Kernel that streams `traffic` bytes once through memory.
Seconds elementwise_time(Bytes traffic, const Accelerator& accelerator);

/// Batched products with a short inner dimension (scores of plain attention): `work` floating-point operations,
/// inner dimension k. Heads whose size is no multiple of 8 miss the tensor cores and run at the peak of 32-bit products.
Seconds batched_gemm_time(Flops work, double k, const Accelerator& accelerator);

/// Fused attention, forward or backward.
Seconds fused_attention_time(Flops work, bool backward, const Accelerator& accelerator);

}  // namespace prismopt
