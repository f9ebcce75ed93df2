#pragma once

/// Rounding of numbers to an element format.

#include "model/base/names.hpp"
#include "model/numerics/formats/element_format.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace prismopt {

enum class Rounding {
    nearest_even,  // IEEE 754 roundTiesToEven
    toward_zero,
    stochastic  // up or down, with the probabilities that make the mean exact
};
template <>
inline constexpr auto names_of<Rounding> =
    std::to_array<Named<Rounding>>({{Rounding::nearest_even, "nearest-even"},
                                    {Rounding::toward_zero, "toward-zero"},
                                    {Rounding::stochastic, "stochastic"}});

/// Rounds to one element format. A number near x is a multiple of a quantum: 2^-mantissa_bits times the
/// power of two at or below |x|, or times the least normal number if |x| is below it. Adding 2^52 quanta to
/// |x| leaves no bits for less than a quantum, so the addition of doubles rounds, to nearest even. No
/// branches, so loops over arrays are vectorised.
class Rounder {
public:
    explicit Rounder(const ElementFormat& format) : Rounder(format, format.overflow) {}
    Rounder(const ElementFormat& format, Overflow overflow)
        : least_normal_(format.least_normal()), quantum_(std::ldexp(1.0, -format.mantissa_bits)),
          largest_(format.largest()), beyond_(format.beyond_largest(overflow)),
          signed_zero_(format.specials != Specials::fnuz)
    {
    }

    double nearest_even(double x) const
    {
        const double size = std::fabs(x);
        return finished(x, to_nearest(size, quantum_of(size)), beyond_);
    }

    double toward_zero(double x) const
    {
        const double size = std::fabs(x);
        return finished(x, downward(size, quantum_of(size)),
                        size <= std::numeric_limits<double>::max() ? largest_ : beyond_);
    }

    /// `uniform` in [0, 1): rounds up in magnitude if that is less than the distance to
    /// the lower neighbour, in quanta.
    double stochastic(double x, double uniform) const
    {
        const double size = std::fabs(x);
        const double quantum = quantum_of(size);
        const double down = downward(size, quantum);
        return finished(x, size - down > uniform * quantum ? down + quantum : down, beyond_);
    }

private:
    double quantum_of(double size) const
    {
        constexpr std::uint64_t exponent_mask = 0x7FF0000000000000;
        const double at_least = size > least_normal_ ? size : least_normal_;
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(at_least) & exponent_mask) * quantum_;
    }
    static double to_nearest(double size, double quantum)
    {
        const double shift = quantum * 0x1p52;
        return (size + shift) - shift;
    }
    static double downward(double size, double quantum)
    {
        const double nearest = to_nearest(size, quantum);
        return nearest > size ? nearest - quantum : nearest;
    }
    /// `beyond`: the result above the largest number.
    double finished(double x, double rounded, double beyond) const
    {
        const double size = rounded <= largest_ ? rounded : (x == x ? beyond : x);
        const double result = std::copysign(size, x);
        return signed_zero_ || size != 0.0 ? result : 0.0;
    }

    double least_normal_;
    double quantum_;  // relative to the power of two
    double largest_;
    double beyond_;
    bool signed_zero_;
};

}  // namespace prismopt
