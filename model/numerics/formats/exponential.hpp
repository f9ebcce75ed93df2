#pragma once

/// The exponential function, with the same bits on every machine: libraries
/// select their code by the processor.

#include <bit>
#include <cstdint>

namespace prismopt {

/// exp(x) with a relative error below 4e-16 for -700 <= x <= 700; below that, exp(-700) = 1e-304; NaN for
/// NaN. No branches, so loops over arrays are vectorised.
///
/// exp(x) = 2^k exp(r) with |r| <= ln(2) / 2; exp(r) by its Taylor series, whose first omitted
/// term is 0.35^14 / 14! = 5e-18.
inline double exponential(double x)
{
    constexpr double per_ln2 = 0x1.71547652b82fep0;
    constexpr double ln2_high = 0x1.62e42fefa3800p-1;  // ends in zeros, so that k times it is exact
    constexpr double ln2_low = 0x1.ef35793c76730p-45;
    constexpr double shift = 0x1.8p52;  // adding it leaves no bits for fractions
    const double held = x < -700.0 ? -700.0 : x;
    const double shifted = held * per_ln2 + shift;
    const double k = shifted - shift;
    const double r = (held - k * ln2_high) - k * ln2_low;
    double sum = 1.0 / 6227020800.0;
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    constexpr std::uint64_t one = 0x3FF0000000000000;
    const std::uint64_t power = (std::bit_cast<std::uint64_t>(shifted) << 52) + one;
    return sum * std::bit_cast<double>(power);
}

}  // namespace prismopt
