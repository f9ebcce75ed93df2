#pragma once

/// What both attention kernels share.

#include "model/base/parallel.hpp"
#include "model/numerics/attention.hpp"
#include "model/numerics/formats/arithmetic.hpp"
#include "model/numerics/formats/exponential.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

/// Names of tensors and of tiles of them, for stochastic rounding.
enum class AttentionTensor : std::uint32_t {
    q,
    k,
    v,
    output_gradient,
    raw_scores,
    scores,
    shifted,
    exponentials,
    row_sums,
    probabilities,
    output,
    raw_output,
    old_sums,
    sums,
    old_output,
    shifted_maxima,
    factors,
    weighted_values,
    score_gradients,
    products,
    deltas,
    differences,
    score_gradients_scaled,
    q_operand,
    k_operand,
    v_operand,
    output_gradient_operand,
    probability_operand,
    difference_operand,
    q_gradient,
    k_gradient,
    v_gradient,
    q_terms,
    k_terms,
    v_terms
};
inline TensorName named(AttentionTensor tensor, std::size_t tile = 0)
{
    return {static_cast<std::uint32_t>(tensor), static_cast<std::uint32_t>(tile)};
}

/// Applies change(row number, row) to all rows.
template <class T, class Change>
void change_rows(Matrix<T>& a, const Change& change)
{
    parallel_for(static_cast<std::int64_t>(a.rows()), [&](int, std::int64_t i) {
        change(static_cast<std::size_t>(i), a.row(static_cast<std::size_t>(i)));
    });
}

/// One number for each row.
template <class T, class Of>
Matrix<T> of_rows(const Matrix<T>& a, const Of& of)
{
    Matrix<T> result(1, a.rows());
    parallel_for(static_cast<std::int64_t>(a.rows()), [&](int, std::int64_t i) {
        result.row(0)[static_cast<std::size_t>(i)] =
            of(static_cast<std::size_t>(i), a.row(static_cast<std::size_t>(i)));
    });
    return result;
}

template <class T>
T sum(std::span<const T> values)
{
    T total = 0;
    for (const T x : values) {
        total += x;
    }
    return total;
}

template <class T>
T score_scale(const AttentionInputs<T>& in)
{
    return static_cast<T>(1.0 / std::sqrt(static_cast<double>(in.q.columns())));
}

}  // namespace prismopt
