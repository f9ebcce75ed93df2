#include "model/numerics/linear.hpp"

#include <cmath>

namespace prismopt {

LinearInputs<float> random_linear(std::size_t tokens, std::size_t inputs, std::size_t outputs,
                                  std::uint64_t seed, Elements elements)
{
    LinearInputs<float> in{
        random_tensor({.seed = seed, .tensor = 0, .elements = elements}, tokens, inputs),
        random_tensor({.seed = seed, .tensor = 1, .factor = 1.0 / std::sqrt(static_cast<double>(inputs))},
                      outputs, inputs),
        random_tensor({.seed = seed, .tensor = 2, .elements = elements}, tokens, outputs)};
    for (Matrix<float>* tensor : {&in.x, &in.weights, &in.output_gradient}) {
        round_elements(*tensor, element::bf16, {}, {});
    }
    return in;
}

LinearInputs<double> widened(const LinearInputs<float>& in)
{
    return {widened(in.x), widened(in.weights), widened(in.output_gradient)};
}

}  // namespace prismopt
