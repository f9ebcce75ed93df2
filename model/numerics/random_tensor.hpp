#pragma once

/// Random inputs of the experiments.

#include "model/base/matrix.hpp"
#include "model/base/names.hpp"

#include <array>
#include <cstdint>

namespace prismopt {

/// Distribution of the elements of a random tensor.
enum class Elements {
    normal,   // mean 0, standard deviation 1
    uniform,  // between 0 and 1
    // normal, plus a normal number of standard deviation 10 in 1 of 1,000 elements
    // (FlashAttention-3, arXiv 2407.08608)
    outliers
};
template <>
inline constexpr auto names_of<Elements> = std::to_array<Named<Elements>>({{Elements::normal, "normal"},
                                                                           {Elements::uniform, "uniform"},
                                                                           {Elements::outliers, "outliers"}});

/// Which random tensor: tensors with different numbers are independent.
struct RandomTensor {
    std::uint64_t seed = 1;
    std::uint32_t tensor = 0;
    Elements elements = Elements::normal;
    double factor = 1.0;  // of all elements
};

/// Elements are a function of seed, tensor, row and column.
Matrix<float> random_tensor(const RandomTensor& of, std::size_t rows, std::size_t columns);

}  // namespace prismopt
