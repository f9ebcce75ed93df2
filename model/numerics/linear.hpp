#pragma once

/// A linear layer, forward and backward: Y = X W^T, dX = dY W, dW = dY^T X.

#include "model/base/matrix.hpp"
#include "model/numerics/formats/arithmetic.hpp"
#include "model/numerics/random_tensor.hpp"

namespace prismopt {

template <class T>
struct LinearInputs {
    Matrix<T> x;                // [token][input]
    Matrix<T> weights;          // [output][input]
    Matrix<T> output_gradient;  // [token][output]
};

template <class T>
struct LinearGradients {
    Matrix<T> x;
    Matrix<T> weights;
};

/// Random inputs, rounded to bf16; weights have a variance of 1 / inputs.
LinearInputs<float> random_linear(std::size_t tokens, std::size_t inputs, std::size_t outputs,
                                  std::uint64_t seed, Elements elements = Elements::normal);
LinearInputs<double> widened(const LinearInputs<float>& in);

template <class A>
Matrix<typename A::Value> linear_output(const LinearInputs<typename A::Value>& in, const A& arithmetic)
{
    auto x = in.x;
    auto weights = in.weights;
    arithmetic.operand(x, {0});
    arithmetic.operand(weights, {1});
    auto y = product(x, weights);
    arithmetic.stored(y, {2});
    return y;
}

template <class A>
LinearGradients<typename A::Value> linear_gradients(const LinearInputs<typename A::Value>& in,
                                                    const A& arithmetic)
{
    auto rows = in.output_gradient;
    auto columns = transposed(in.output_gradient);
    auto weights = transposed(in.weights);
    auto x = transposed(in.x);
    arithmetic.operand(rows, {3});
    arithmetic.operand(columns, {4});
    arithmetic.operand(weights, {5});
    arithmetic.operand(x, {6});
    LinearGradients<typename A::Value> gradients{product(rows, weights), product(columns, x)};
    arithmetic.stored(gradients.x, {7});
    arithmetic.stored(gradients.weights, {8});
    return gradients;
}

}  // namespace prismopt
