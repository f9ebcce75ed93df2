#pragma once

/// Attention whose scores and probabilities are tensors: S = Q K^T / sqrt(d), P = softmax(S), O =
/// P V, and its adjoint dV = P^T dO, dP = dO V^T, dS = P * (dP - sum(P * dP)), dQ = dS K /
/// sqrt(d), dK = dS^T Q / sqrt(d).

#include "model/numerics/attention_tensors.hpp"

namespace prismopt {

/// The product of two tensors, rounded as its operands.
template <class T, class A>
Matrix<T> rounded_product(const A& arithmetic, Matrix<T> a, AttentionTensor a_name, Matrix<T> b,
                          AttentionTensor b_name)
{
    arithmetic.operand(a, named(a_name));
    arithmetic.operand(b, named(b_name));
    return product(a, b);
}

template <class T>
void multiply_elements(Matrix<T>& a, const Matrix<T>& by)
{
    change_rows(a, [&](std::size_t i, std::span<T> row) {
        for (std::size_t j = 0; j < row.size(); ++j) {
            row[j] *= by.row(i)[j];
        }
    });
}

template <class T>
void scale_elements(Matrix<T>& a, T by)
{
    change_rows(a, [&](std::size_t, std::span<T> row) {
        for (T& x : row) {
            x *= by;
        }
    });
}

/// S.
template <class T, class A>
Matrix<T> attention_scores(const AttentionInputs<T>& in, const A& arithmetic)
{
    Matrix<T> s = rounded_product(arithmetic, in.q, AttentionTensor::q, in.k, AttentionTensor::k);
    arithmetic.intermediate(s, named(AttentionTensor::raw_scores));
    scale_elements(s, score_scale(in));
    arithmetic.stored(s, named(AttentionTensor::scores));
    return s;
}

/// P, of S. Position i attends to the positions before it and itself, or to all.
template <class T, class A>
Matrix<T> attention_probabilities(Matrix<T> s, bool causal, const A& arithmetic)
{
    const auto visible = [causal](std::size_t i, std::span<T> row) {
        return causal ? row.first(i + 1) : row;
    };
    change_rows(s, [&](std::size_t i, std::span<T> row) {
        const std::span<T> seen = visible(i, row);
        const T largest = *std::max_element(seen.begin(), seen.end());
        for (T& x : row) {
            x -= largest;
        }
    });
    arithmetic.intermediate(s, named(AttentionTensor::shifted));
    change_rows(s, [&](std::size_t i, std::span<T> row) {
        const std::span<T> seen = visible(i, row);
        for (T& x : seen) {
            x = static_cast<T>(exponential(x));
        }
        std::fill(row.begin() + std::ssize(seen), row.end(), T{});
    });
    arithmetic.intermediate(s, named(AttentionTensor::exponentials));
    Matrix<T> sums = of_rows(s, [](std::size_t, std::span<const T> row) { return sum(row); });
    arithmetic.intermediate(sums, named(AttentionTensor::row_sums));
    change_rows(s, [&](std::size_t i, std::span<T> row) {
        for (T& x : row) {
            x /= sums.row(0)[i];
        }
    });
    arithmetic.stored(s, named(AttentionTensor::probabilities));
    return s;
}

/// dS / sqrt(d).
template <class T, class A>
Matrix<T> score_gradient(const AttentionInputs<T>& in, const Matrix<T>& probabilities, const A& arithmetic)
{
    Matrix<T> gradient = rounded_product(arithmetic, in.output_gradient, AttentionTensor::output_gradient,
                                         in.v, AttentionTensor::v);
    arithmetic.stored(gradient, named(AttentionTensor::score_gradients));
    Matrix<T> products = gradient;
    multiply_elements(products, probabilities);
    arithmetic.intermediate(products, named(AttentionTensor::products));
    Matrix<T> deltas = of_rows(products, [](std::size_t, std::span<const T> row) { return sum(row); });
    arithmetic.intermediate(deltas, named(AttentionTensor::deltas));
    change_rows(gradient, [&](std::size_t i, std::span<T> row) {
        for (T& x : row) {
            x -= deltas.row(0)[i];
        }
    });
    arithmetic.intermediate(gradient, named(AttentionTensor::differences));
    multiply_elements(gradient, probabilities);
    arithmetic.intermediate(gradient, named(AttentionTensor::score_gradients_scaled));
    scale_elements(gradient, score_scale(in));
    arithmetic.stored(gradient, named(AttentionTensor::score_gradients_scaled, 1));
    return gradient;
}

template <class T>
struct PlainForward {
    Matrix<T> probabilities;
    Matrix<T> output;
};

template <class T, class A>
PlainForward<T> plain_forward(const AttentionInputs<T>& in, const A& arithmetic)
{
    Matrix<T> probabilities =
        attention_probabilities(attention_scores(in, arithmetic), in.causal, arithmetic);
    Matrix<T> output = rounded_product(arithmetic, probabilities, AttentionTensor::probability_operand,
                                       transposed(in.v), AttentionTensor::v_operand);
    arithmetic.stored(output, named(AttentionTensor::output));
    return {std::move(probabilities), std::move(output)};
}

/// Forward and backward.
template <class T, class A>
AttentionOutputs<T> plain_attention(const AttentionInputs<T>& in, const A& arithmetic)
{
    AttentionOutputs<T> out;
    PlainForward<T> forward = plain_forward(in, arithmetic);
    const Matrix<T>& probabilities = forward.probabilities;
    out.output = std::move(forward.output);
    const Matrix<T> gradient = score_gradient(in, probabilities, arithmetic);
    out.v_gradient =
        rounded_product(arithmetic, transposed(probabilities), AttentionTensor::probability_operand,
                        transposed(in.output_gradient), AttentionTensor::output_gradient_operand);
    out.q_gradient = rounded_product(arithmetic, gradient, AttentionTensor::difference_operand,
                                     transposed(in.k), AttentionTensor::k_operand);
    out.k_gradient = rounded_product(arithmetic, transposed(gradient), AttentionTensor::difference_operand,
                                     transposed(in.q), AttentionTensor::q_operand);
    arithmetic.stored(out.v_gradient, named(AttentionTensor::v_gradient));
    arithmetic.stored(out.q_gradient, named(AttentionTensor::q_gradient));
    arithmetic.stored(out.k_gradient, named(AttentionTensor::k_gradient));
    return out;
}

}  // namespace prismopt
