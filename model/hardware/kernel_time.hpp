#pragma once

/// Mean, noise-free times of single kernels on one accelerator: a roofline whose compute roof depends on the
/// shape. docs/methods/kernel-times.md.

#include "model/base/units.hpp"
#include "model/hardware/hardware.hpp"

namespace prismopt {

/// Returns the time of C[m, n] = A[m, k] B[k, n] with operands of `precision`, 32-bit sums
/// and a result of at least 16 bits.
///
/// Counts tile and wave quantisation, the fill of the pipeline for short k, and misaligned rows (n or k not a
/// multiple of 8). Not modelled: split-k and stream-k kernels, clocks that depend on the data.
Seconds gemm_time(double m, double n, double k, const Accelerator& accelerator,
                  Precision precision = Precision::bf16);

/// Returns the time of `groups` products of the same shape in one kernel
/// (routed experts), whose tiles share the waves.
Seconds grouped_gemm_time(double groups, double m, double n, double k, const Accelerator& accelerator,
                          Precision precision = Precision::bf16);

/// Returns the bytes per operand element of a precision.
double operand_bytes(Precision precision);

/// Returns the time of a kernel that casts operands to 8 or 4 bits and moves `traffic` bytes.
Seconds cast_time(Bytes traffic, const Accelerator& accelerator);

/// Returns the time of a kernel that streams `traffic` bytes once through memory.
Seconds elementwise_time(Bytes traffic, const Accelerator& accelerator);

/// Returns the time of batched products with `work` floating-point operations and a short inner
/// dimension k (scores of plain attention). With k not a multiple of 8 they miss the tensor cores and
/// run at the peak of 32-bit products.
Seconds batched_gemm_time(Flops work, double k, const Accelerator& accelerator);

/// Fused attention by its blocks of queries.
struct AttentionWork {
    Flops flops;              // executed
    double queries = 0.0;     // of all heads
    double keys = 0.0;        // with which a block of queries is multiplied, in the mean
    double key_size = 0.0;    // columns of a head
    double value_size = 0.0;  // other than `key_size`: latent attention
    Bytes traffic{0.0};       // queries, keys, values and results
    bool in_8_bits = false;   // both products
};
/// Returns the time of fused attention, forward or backward.
Seconds fused_attention_time(const AttentionWork& work, bool backward, const Accelerator& accelerator);

/// Returns the time of the products of a scan of chunks, at the rate of fused attention.
Seconds scan_time(Flops work, const Accelerator& accelerator);

}  // namespace prismopt
