#pragma once

/// Attention in tiles, whose softmax has a running maximum and sum: Dao, FlashAttention-2, arXiv
/// 2307.08691, algorithms 1 and 2. The maximum and the sum of a row are kept as two numbers;
/// kernels keep max + log(sum) in FP32.

#include "model/numerics/attention.hpp"

namespace prismopt {

AttentionOutputs<float> flash_attention(const AttentionInputs<float>& in, const TileShape& tile,
                                        const Emulated& arithmetic);
/// The forward pass alone.
Matrix<float> flash_output(const AttentionInputs<float>& in, const TileShape& tile,
                           const Emulated& arithmetic);

}  // namespace prismopt
