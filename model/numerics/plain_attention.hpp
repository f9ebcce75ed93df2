#pragma once

/// Attention whose scores and probabilities are tensors: S = Q K^T / sqrt(d), P = softmax(S), O =
/// P V, and its adjoint dV = P^T dO, dP = dO V^T, dS = P * (dP - sum(P * dP)), dQ = dS K /
/// sqrt(d), dK = dS^T Q / sqrt(d).

#include "model/numerics/attention_tensors.hpp"

namespace prismopt {

template <class A>
class PlainAttention {
public:
    using T = typename A::Value;

    /// Inputs and arithmetic must outlive this object.
    PlainAttention(const AttentionInputs<T>& in, const A& arithmetic)
        : in_(in), arithmetic_(arithmetic), scale_(score_scale(in))
    {
    }

    struct Forward {
        Matrix<T> probabilities;
        Matrix<T> output;
    };
    Forward forward() const
    {
        Matrix<T> probabilities = softmax(scores());
        Matrix<T> output = times(probabilities, transposed(in_.v), AttentionTensor::probability_operand,
                                 AttentionTensor::v_operand);
        arithmetic_.stored(output, named(AttentionTensor::output));
        return {std::move(probabilities), std::move(output)};
    }

    /// Forward and backward.
    AttentionOutputs<T> run() const
    {
        AttentionOutputs<T> out;
        Forward pass = forward();
        const Matrix<T>& probabilities = pass.probabilities;
        out.output = std::move(pass.output);
        const Matrix<T> gradient = score_gradient(probabilities);
        out.v_gradient =
            times(transposed(probabilities), transposed(in_.output_gradient),
                  AttentionTensor::probability_operand, AttentionTensor::output_gradient_operand);
        out.q_gradient = times(gradient, transposed(in_.k), AttentionTensor::difference_operand,
                               AttentionTensor::k_operand);
        out.k_gradient = times(transposed(gradient), transposed(in_.q), AttentionTensor::difference_operand,
                               AttentionTensor::q_operand);
        arithmetic_.stored(out.v_gradient, named(AttentionTensor::v_gradient));
        arithmetic_.stored(out.q_gradient, named(AttentionTensor::q_gradient));
        arithmetic_.stored(out.k_gradient, named(AttentionTensor::k_gradient));
        return out;
    }

private:
    /// The product of two tensors, rounded as its operands.
    Matrix<T> times(Matrix<T> a, Matrix<T> b, AttentionTensor a_name, AttentionTensor b_name) const
    {
        arithmetic_.operand(a, named(a_name));
        arithmetic_.operand(b, named(b_name));
        return product(a, b);
    }

    /// Positions that position i attends to.
    std::size_t visible(std::size_t i) const { return in_.causal ? i + 1 : in_.k.rows(); }

    Matrix<T> scores() const
    {
        Matrix<T> s = times(in_.q, in_.k, AttentionTensor::q, AttentionTensor::k);
        arithmetic_.intermediate(s, named(AttentionTensor::raw_scores));
        change_rows(s, [&](std::size_t, std::span<T> row) {
            for (T& x : row) {
                x *= scale_;
            }
        });
        arithmetic_.stored(s, named(AttentionTensor::scores));
        return s;
    }

    Matrix<T> softmax(Matrix<T> s) const
    {
        change_rows(s, [&](std::size_t i, std::span<T> row) {
            const T largest =
                *std::max_element(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(visible(i)));
            for (T& x : row) {
                x -= largest;
            }
        });
        arithmetic_.intermediate(s, named(AttentionTensor::shifted));
        change_rows(s, [&](std::size_t i, std::span<T> row) {
            for (T& x : row.first(visible(i))) {
                x = static_cast<T>(exponential(x));
            }
            std::fill(row.begin() + static_cast<std::ptrdiff_t>(visible(i)), row.end(), T{});
        });
        arithmetic_.intermediate(s, named(AttentionTensor::exponentials));
        Matrix<T> sums = of_rows(s, [](std::size_t, std::span<const T> row) { return sum(row); });
        arithmetic_.intermediate(sums, named(AttentionTensor::row_sums));
        change_rows(s, [&](std::size_t i, std::span<T> row) {
            for (T& x : row) {
                x /= sums.row(0)[i];
            }
        });
        arithmetic_.stored(s, named(AttentionTensor::probabilities));
        return s;
    }

    /// dS / sqrt(d).
    Matrix<T> score_gradient(const Matrix<T>& probabilities) const
    {
        Matrix<T> gradient =
            times(in_.output_gradient, in_.v, AttentionTensor::output_gradient, AttentionTensor::v);
        arithmetic_.stored(gradient, named(AttentionTensor::score_gradients));
        Matrix<T> products = gradient;
        multiply(products, probabilities);
        arithmetic_.intermediate(products, named(AttentionTensor::products));
        Matrix<T> deltas = of_rows(products, [](std::size_t, std::span<const T> row) { return sum(row); });
        arithmetic_.intermediate(deltas, named(AttentionTensor::deltas));
        change_rows(gradient, [&](std::size_t i, std::span<T> row) {
            for (T& x : row) {
                x -= deltas.row(0)[i];
            }
        });
        arithmetic_.intermediate(gradient, named(AttentionTensor::differences));
        multiply(gradient, probabilities);
        arithmetic_.intermediate(gradient, named(AttentionTensor::score_gradients_scaled));
        change_rows(gradient, [&](std::size_t, std::span<T> row) {
            for (T& x : row) {
                x *= scale_;
            }
        });
        arithmetic_.stored(gradient, named(AttentionTensor::score_gradients_scaled, 1));
        return gradient;
    }

    static void multiply(Matrix<T>& a, const Matrix<T>& by)
    {
        change_rows(a, [&](std::size_t i, std::span<T> row) {
            for (std::size_t j = 0; j < row.size(); ++j) {
                row[j] *= by.row(i)[j];
            }
        });
    }

    const AttentionInputs<T>& in_;
    const A& arithmetic_;
    T scale_;
};

}  // namespace prismopt
