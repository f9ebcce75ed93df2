#pragma once

/// Products whose sums are kept in few bits.

#include "model/base/matrix.hpp"
#include "model/numerics/deviation.hpp"
#include "model/numerics/formats/number_format.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace prismopt {

/// How a product sums: `terms_at_once` products are added to the sum, which is then rounded to a format;
/// every `promoted_after` terms it is added to an FP32 total and begins again at 0 (DeepSeek-V3, arXiv
/// 2412.19437, section 3.3.2); 0: never. FP8 instructions of Hopper sum 32 products (wgmma m64nNk32: NVIDIA,
/// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
struct Accumulator {
    std::string_view name;
    ElementFormat format;
    Rounding rounding;
    std::size_t terms_at_once;
    std::size_t promoted_after;
};
inline constexpr auto accumulators = std::to_array<Accumulator>({
    {"fp32", element::fp32, Rounding::nearest_even, 1, 0},
    {"fp22, FP32 every 128", element::fp22, Rounding::toward_zero, 32, 128},
    {"fp22", element::fp22, Rounding::toward_zero, 32, 0},
    {"fp16", element::fp16, Rounding::nearest_even, 1, 0},
    {"bf16", element::bf16, Rounding::nearest_even, 1, 0},
});

/// a b^T like product(), summed by an accumulator.
Matrix<float> accumulated_product(const Matrix<float>& a, const Matrix<float>& b,
                                  const Accumulator& accumulator);

struct ChainShape {
    std::size_t rows = 64;
    std::size_t width = 1024;  // summed terms of each product
    std::size_t products = 8;
};

/// Deviation after each product of a chain X W1^T W2^T ...: operands rounded to `format`, results stored in
/// bf16. The exact chain has the same rounded X and W.
std::vector<Deviation> chain_deviations(const NumberFormat& format, const Accumulator& accumulator,
                                        const ChainShape& shape, std::uint64_t seed);

/// Deviation of one product of `terms` terms before its result is rounded.
Deviation sum_deviation(const NumberFormat& format, const Accumulator& accumulator, std::size_t terms,
                        std::uint64_t seed);

}  // namespace prismopt
