#pragma once

/// Compiled distributions: quantile functions as tables of 32 random bits. The sampler
/// sees nothing else of a family.

#include "model/base/random.hpp"

#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

namespace prismopt {

/// Quantile function: the quantile at probability p, counted from the lower end, or from the upper end when
/// `upper`, so that tails keep their digits.
using Quantile = std::function<double(double p, bool upper)>;

/// Quantile function in pieces linear in p, between knots spaced by octave towards both tails: 32 per
/// power of two, down to p = 2^-33.
///
/// Each piece has the quantile function's mean over its segment, so means of draws and of sums are not
/// biased, and the rise between its knots. Error: at most (1/32)^2/12 * p^2 |Q''(p)|, that is 3e-5 standard
/// deviations for a normal distribution and
/// 1.6e-4 of the value for a tail Q ~ 1/p. A jump of Q becomes a slope over its segment.
/// docs/methods/distributions.md.
class QuantileTable {
public:
    static constexpr int octave_bits = 5;
    static constexpr int segments_per_octave = 1 << octave_bits;
    static constexpr int octaves = 32;
    static constexpr int segments = octaves * segments_per_octave + 1;  // the last one holds p = 1/2 itself

    QuantileTable() = default;
    explicit QuantileTable(const Quantile& quantile);
    /// Interpolates two tables: (1 - weight) * a + weight * b, knot by knot.
    QuantileTable(const QuantileTable& a, const QuantileTable& b, double weight);

    /// Returns the quantile at probability (bits + 1/2) / 2^32.
    float operator()(std::uint32_t bits) const
    {
        const std::uint32_t top = bits >> 31;
        const std::uint32_t distance = bits ^ (0U - top);  // from the nearer tail: bits, or its complement
        const float x = static_cast<float>(static_cast<std::int32_t>(distance)) + 0.5F;
        const auto pattern = std::bit_cast<std::uint32_t>(x);
        const std::uint32_t segment = (pattern >> mantissa_shift) - first_pattern + top * segments;
        const float within =
            static_cast<float>(static_cast<std::int32_t>(pattern & mantissa_mask)) * mantissa_scale;
        const Piece piece = unpack(pieces_[segment]);
        return piece.base + piece.rise * within;
    }

    /// Returns whether all probabilities have the same value. Compares the ends, as quantiles never decrease.
    bool constant() const;

    /// Returns the mean over all probabilities, by the same linear pieces.
    double mean() const;

    /// Returns the pieces as plain numbers, for broadcasting equal tables to all ranks.
    std::vector<std::uint64_t>& pieces() { return pieces_; }

private:
    static constexpr std::uint32_t mantissa_shift = 23 - octave_bits;  // keeps the mantissa's first bits
    // Pattern of 0.5F, the smallest distance.
    static constexpr std::uint32_t first_pattern = 126U << octave_bits;
    static constexpr std::uint32_t mantissa_mask = (1U << mantissa_shift) - 1;
    static constexpr float mantissa_scale = 1.0F / static_cast<float>(1U << mantissa_shift);

    struct Piece {
        float base;  // value at the segment's end towards the tail
        float rise;  // change across it
    };
    static Piece unpack(std::uint64_t piece)
    {
        return {std::bit_cast<float>(static_cast<std::uint32_t>(piece)),
                std::bit_cast<float>(static_cast<std::uint32_t>(piece >> 32))};
    }
    static std::uint64_t pack(Piece piece)
    {
        return (static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(piece.rise)) << 32) |
               std::bit_cast<std::uint32_t>(piece.base);
    }

    // One load per lookup: 64-bit gathers take half the time of pairs of 32-bit ones.
    std::vector<std::uint64_t> pieces_;  // [side * segments + segment]
};

/// Moments of a distribution.
struct Moments {
    double mean = 0.0;
    double variance = 0.0;
    double third = 0.0;  // third central moment

    double cv() const;
    double skewness() const;
};

/// Returns the moments of a quantile function, by the trapezoidal rule in logit(p), which converges
/// geometrically for smooth quantile functions with at most exponential tails in p.
Moments moments(const Quantile& quantile);

/// Returns the quantile function of the largest of `count` independent draws:
/// Q(p^(1/count)), exact in both tails.
Quantile largest_of(const Quantile& quantile, double count);

}  // namespace prismopt
