#pragma once

/// Formats of tensors: an element format with its scale factors. docs/methods/numerics.md.
///
/// Sources: OCP Microscaling Formats (MX) Specification 1.0 (blocks of 32, scale E8M0); NVIDIA,
/// Transformer Engine documentation, "NVFP4" (blocks of 16, scales E4M3, one FP32 factor for the tensor);
/// DeepSeek-V3, arXiv 2412.19437, section
/// 3.3.2 (blocks of 1 x 128); Micikevicius et al., arXiv 2209.05433 (one factor for the tensor); Mishra et
/// al., arXiv 2506.08027 (MX scales rounded up).

#include "model/base/matrix.hpp"
#include "model/numerics/formats/element_format.hpp"
#include "model/numerics/formats/rounding.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace prismopt {

enum class Scaling {
    none,
    tensor,  // FP32 factor that takes the largest element of the tensor to the largest number of the format
    block,   // the same for each block of a row
    mx,      // power of two (E8M0) for each block of a row; its largest element may saturate
    mx_up,   // the same, rounded up: nothing saturates
    nvfp4    // E4M3 for each block of a row, times an FP32 factor of the tensor
};

struct NumberFormat {
    std::string_view name;
    ElementFormat element;
    Scaling scaling;
    std::size_t block;  // elements of a row that share a factor
    // of results that the next operation reads; the element itself where it needs no scale
    ElementFormat stored;
};

inline constexpr auto number_formats = std::to_array<NumberFormat>({
    {"fp32", element::fp32, Scaling::none, 0, element::fp32},
    {"tf32", element::tf32, Scaling::none, 0, element::fp32},  // only products round to it
    {"fp16", element::fp16, Scaling::none, 0, element::fp16},
    {"bf16", element::bf16, Scaling::none, 0, element::bf16},
    {"fp8-e4m3", element::e4m3, Scaling::tensor, 0, element::bf16},
    {"fp8-e5m2", element::e5m2, Scaling::tensor, 0, element::bf16},
    {"fp8-e4m3-fnuz", element::e4m3_fnuz, Scaling::tensor, 0, element::bf16},
    {"fp8-e5m2-fnuz", element::e5m2_fnuz, Scaling::tensor, 0, element::bf16},
    {"fp8-e4m3-block", element::e4m3, Scaling::block, 128, element::bf16},
    {"mxfp8-e4m3", element::e4m3, Scaling::mx, 32, element::bf16},
    {"mxfp8-e4m3-up", element::e4m3, Scaling::mx_up, 32, element::bf16},
    {"mxfp8-e5m2", element::e5m2, Scaling::mx, 32, element::bf16},
    {"mxfp4", element::e2m1, Scaling::mx, 32, element::bf16},
    {"nvfp4", element::e2m1, Scaling::nvfp4, 16, element::bf16},
});

/// The format of that name, or null.
const NumberFormat* number_format(std::string_view name);
/// All names, separated by ", ".
std::string number_format_names();

/// Name of a tensor, or of one tile of it, in stochastic rounding: each element of each tensor has random
/// numbers of its own, whoever rounds it.
struct TensorName {
    std::uint32_t tensor = 0;
    std::uint32_t tile = 0;
};

/// How tensors are rounded.
struct RoundingChoice {
    Rounding rounding = Rounding::nearest_even;
    std::uint64_t seed = 1;  // of stochastic rounding
};

/// Rounds each element.
void round_elements(Matrix<float>& values, const ElementFormat& format, const RoundingChoice& how,
                    TensorName name);

/// Rounds to the format and back, with the scale factors of this tensor; blocks run along rows,
/// the summed index of product().
void quantise(Matrix<float>& values, const NumberFormat& format, const RoundingChoice& how, TensorName name);

}  // namespace prismopt
