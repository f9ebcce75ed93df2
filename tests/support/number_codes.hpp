#pragma once

/// The codes of an element format, read bit by bit: the judge of model/numerics/formats/rounding.hpp.

#include "model/numerics/formats/element_format.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace prismopt {

inline double decoded(std::uint32_t code, const ElementFormat& format)
{
    const std::uint32_t mantissa_mask = (1U << format.mantissa_bits) - 1;
    const std::uint32_t exponent_mask = (1U << format.exponent_bits) - 1;
    const std::uint32_t mantissa = code & mantissa_mask;
    const std::uint32_t exponent = (code >> format.mantissa_bits) & exponent_mask;
    const bool negative = (code >> (format.bits() - 1)) != 0;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    switch (format.specials) {
        case Specials::ieee:
            if (exponent == exponent_mask) {
                return mantissa != 0 ? nan : negative ? -HUGE_VAL : HUGE_VAL;
            }
            break;
        case Specials::one_nan:
            if (exponent == exponent_mask && mantissa == mantissa_mask) {
                return nan;
            }
            break;
        case Specials::fnuz:
            if (negative && exponent == 0 && mantissa == 0) {
                return nan;
            }
            break;
        case Specials::none: break;
    }
    const double fraction = std::ldexp(mantissa, -format.mantissa_bits);
    const double size = exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                                      : std::ldexp(1.0 + fraction, static_cast<int>(exponent) - format.bias);
    return negative ? -size : size;
}

/// Non-negative codes of finite numbers, which ascend with their numbers; every
/// `stride`-th and its successor.
inline std::vector<std::uint32_t> finite_codes(const ElementFormat& format, std::uint32_t stride = 1)
{
    std::vector<std::uint32_t> codes;
    for (std::uint64_t code = 0; code < std::uint64_t{1} << (format.bits() - 1); ++code) {
        const auto at = static_cast<std::uint32_t>(code);
        if (code % stride <= 1 && std::isfinite(decoded(at, format))) {
            codes.push_back(at);
        }
    }
    return codes;
}

}  // namespace prismopt
