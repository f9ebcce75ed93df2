#pragma once

/// Floating-point formats of single numbers, and what follows from their bits. docs/methods/numerics.md.
///
/// Sources: IEEE 754-2019 (fp32, fp16); OCP 8-bit Floating Point Specification (OFP8) 1.0 (e4m3, e5m2); OCP
/// Microscaling Formats (MX) Specification 1.0 (e2m1); Micikevicius et al., arXiv 2209.05433 (e4m3, e5m2);
/// Noune et al., arXiv 2206.02915 (the formats of one NaN and no negative zero, "FNUZ"); NVIDIA A100 white
/// paper (tf32, bf16); DeepSeek-V3, arXiv 2412.19437, section 3.3.2 (the 14 bits that FP8 products of Hopper
/// keep when they accumulate: here fp22).

#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace prismopt {

/// Codes of a format that are not finite numbers.
enum class Specials {
    ieee,     // the largest exponent: infinities and NaNs
    one_nan,  // no infinities; NaN is the exponent and mantissa of ones only
    fnuz,     // no infinities; NaN is what would be the negative zero, which does not exist
    none      // every code is a finite number
};

/// Result of rounding a number beyond the largest finite one.
enum class Overflow {
    saturate,  // the largest finite number, as conversions to 8 bits and fewer do in training (OFP8: SAT)
    special    // infinity, or NaN in formats without infinities (OFP8: NONSAT)
};

struct ElementFormat {
    std::string_view name;
    int exponent_bits;
    int mantissa_bits;
    int bias;
    Specials specials;
    Overflow overflow;

    constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
    constexpr int least_exponent() const { return 1 - bias; }  // of normal numbers
    constexpr int largest_exponent() const
    {
        return (1 << exponent_bits) - 1 - bias - (specials == Specials::ieee ? 1 : 0);
    }

    double least_normal() const { return std::ldexp(1.0, least_exponent()); }
    double least_subnormal() const { return std::ldexp(1.0, least_exponent() - mantissa_bits); }
    double largest() const
    {
        // units in the last place below the next power of two
        const int beyond = specials == Specials::one_nan ? 2 : 1;
        return std::ldexp(2.0 - std::ldexp(beyond, -mantissa_bits), largest_exponent());
    }
    /// Largest relative error of rounding a normal number to nearest.
    double unit_roundoff() const { return std::ldexp(1.0, -mantissa_bits - 1); }
    /// Result of rounding infinity.
    double beyond_largest(Overflow rule) const
    {
        if (rule == Overflow::saturate) {
            return largest();
        }
        return specials == Specials::ieee ? std::numeric_limits<double>::infinity()
                                          : std::numeric_limits<double>::quiet_NaN();
    }
};

namespace element {

inline constexpr ElementFormat fp32{"fp32", 8, 23, 127, Specials::ieee, Overflow::special};
inline constexpr ElementFormat tf32{"tf32", 8, 10, 127, Specials::ieee, Overflow::special};
inline constexpr ElementFormat bf16{"bf16", 8, 7, 127, Specials::ieee, Overflow::special};
inline constexpr ElementFormat fp16{"fp16", 5, 10, 15, Specials::ieee, Overflow::special};
inline constexpr ElementFormat fp22{"fp22", 8, 13, 127, Specials::ieee, Overflow::special};
inline constexpr ElementFormat e5m2{"e5m2", 5, 2, 15, Specials::ieee, Overflow::saturate};
inline constexpr ElementFormat e4m3{"e4m3", 4, 3, 7, Specials::one_nan, Overflow::saturate};
inline constexpr ElementFormat e5m2_fnuz{"e5m2-fnuz", 5, 2, 16, Specials::fnuz, Overflow::saturate};
inline constexpr ElementFormat e4m3_fnuz{"e4m3-fnuz", 4, 3, 8, Specials::fnuz, Overflow::saturate};
inline constexpr ElementFormat e2m1{"e2m1", 2, 1, 1, Specials::none, Overflow::saturate};

}  // namespace element

/// All of them.
inline constexpr auto element_formats =
    std::to_array({element::fp32, element::tf32, element::fp22, element::bf16, element::fp16, element::e5m2,
                   element::e4m3, element::e5m2_fnuz, element::e4m3_fnuz, element::e2m1});

}  // namespace prismopt
