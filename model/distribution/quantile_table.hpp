#pragma once

/// A compiled distribution: a quantile function as a table that takes 32 random bits. All that the sampler sees of a family.

#include "model/base/random.hpp"

#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

namespace prismopt {

/// Quantile at probability p, counted from the lower end, or from the upper end when `upper` (tails keep their digits).
using Quantile = std::function<double(double p, bool upper)>;

/// Pieces linear in p between knots that are spaced by octave towards both tails: 32 a power of two, down to p = 2^-33. Each
/// piece has the quantile function's mean over its segment, so that means of draws and of sums are not biased by the table, and
/// the rise between its knots. The error is at most (1/32)^2/12 * p^2 |Q''(p)|: 3e-5 standard deviations for a normal law,
/// 1.6e-4 of the value for a tail Q ~ 1/p, and neighbours meet within that. A jump of Q becomes a slope over its segment.
class QuantileTable {
public:
    static constexpr int octave_bits = 5;
    static constexpr int segments_per_octave = 1 << octave_bits;
    static constexpr int octaves = 32;
    static constexpr int segments = octaves * segments_per_octave + 1;  // the last one holds p = 1/2 itself

    QuantileTable() = default;
    explicit QuantileTable(const Quantile& quantile);
    /// (1 - weight) * a + weight * b, knot by knot.
    QuantileTable(const QuantileTable& a, const QuantileTable& b, double weight);

    /// Value at the 2^32 probabilities (bits + 1/2) / 2^32.
    float operator()(std::uint32_t bits) const
    {
        const std::uint32_t top = bits >> 31;
        const std::uint32_t distance = bits ^ (0U - top);  // from the nearer tail: bits, or its complement
        const float x = static_cast<float>(static_cast<std::int32_t>(distance)) + 0.5F;
        const auto pattern = std::bit_cast<std::uint32_t>(x);
        const std::uint32_t segment = (pattern >> mantissa_shift) - first_pattern + top * segments;
        const float within = static_cast<float>(static_cast<std::int32_t>(pattern & mantissa_mask)) * mantissa_scale;
        const Piece piece = unpack(pieces_[segment]);
        return piece.base + piece.rise * within;
    }

    /// Whether all probabilities have one value: the ends', as quantiles never fall.
    bool constant() const;

    /// Mean over all probabilities, by the same linear pieces.
    double mean() const;

    /// Plain numbers for broadcasting: equal tables on every rank whatever its mathematics library.
    std::vector<std::uint64_t>& pieces() { return pieces_; }

private:
    static constexpr std::uint32_t mantissa_shift = 23 - octave_bits;    // keeps the mantissa's first bits
    static constexpr std::uint32_t first_pattern = 126U << octave_bits;  // of 0.5F, the smallest distance
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

    // One load a lookup: 64-bit gathers take half the time of pairs of 32-bit ones.
    std::vector<std::uint64_t> pieces_;  // [side * segments + segment]
};

/// Moments of a law from its quantile function.
struct Moments {
    double mean = 0.0;
    double variance = 0.0;
    double third = 0.0;  // third central moment

    double cv() const;
    double skewness() const;
};

/// Trapezoidal rule in logit(p), which converges geometrically for smooth quantile functions with at most
/// exponential tails in p.
Moments moments(const Quantile& quantile);

/// Law of the largest of `count` independent draws: Q(p^(1/count)), exact in both tails.
Quantile largest_of(const Quantile& quantile, double count);

}  // namespace prismopt
