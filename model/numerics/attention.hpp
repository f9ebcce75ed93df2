#pragma once

/// Attention of one head, forward and backward, as two kernels compute it. docs/methods/numerics.md.

#include "model/base/matrix.hpp"
#include "model/base/names.hpp"
#include "model/numerics/formats/arithmetic.hpp"
#include "model/numerics/random_tensor.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace prismopt {

enum class AttentionMethod {
    plain,  // scores and probabilities of the whole sequence are tensors in memory
    // tiles with a running maximum and sum (Dao, FlashAttention-2, arXiv 2307.08691, algorithms 1 and 2)
    flash
};
template <>
inline constexpr auto names_of<AttentionMethod> = std::to_array<Named<AttentionMethod>>(
    {{AttentionMethod::plain, "plain"}, {AttentionMethod::flash, "flash"}});

/// Queries and keys of a tile.
struct TileShape {
    std::size_t queries = 128;
    std::size_t keys = 128;
};

/// [position][element of the head].
template <class T>
struct AttentionInputs {
    Matrix<T> q;
    Matrix<T> k;
    Matrix<T> v;
    Matrix<T> output_gradient;
    bool causal = true;
};

template <class T>
struct AttentionOutputs {
    Matrix<T> output;
    Matrix<T> q_gradient;
    Matrix<T> k_gradient;
    Matrix<T> v_gradient;
};

/// Random normal inputs as a BF16 training passes them on: rounded to bf16.
AttentionInputs<float> random_attention(std::size_t sequence, std::size_t head, bool causal,
                                        std::uint64_t seed, Elements elements = Elements::normal);

AttentionOutputs<double> exact_attention(const AttentionInputs<float>& in);

/// `tile`: of flash attention only.
AttentionOutputs<float> emulated_attention(const AttentionInputs<float>& in, AttentionMethod kernel,
                                           const TileShape& tile, const Emulated& arithmetic);

/// The forward pass alone.
Matrix<float> emulated_output(const AttentionInputs<float>& in, AttentionMethod kernel, const TileShape& tile,
                              const Emulated& arithmetic);

}  // namespace prismopt
