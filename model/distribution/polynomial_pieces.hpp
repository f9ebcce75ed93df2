#pragma once

/// Smooth functions of one number as 32 polynomial pieces, small enough for a machine's vector registers,
/// where a piece is selected without memory access. Distributions that are not smooth use quantile tables
/// (quantile_table.hpp). docs/methods/distributions.md.

#include "model/distribution/quantile_table.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace prismopt {

/// A function as 32 polynomials of this degree.
template <int Degree>
struct PolynomialPieces {
    static constexpr int pieces = 32;
    /// Degree + 1 equidistant values that a piece interpolates; the first and last
    /// are shared with its neighbours.
    using Values = std::array<double, Degree + 1>;

    alignas(64) std::array<std::array<float, pieces>, Degree + 1> coefficient{};  // [power][piece]

    /// Evaluates a piece. `within` is the distance from the middle of the piece: -1/2 ... 1/2. Only the
    /// five low bits of `piece` count.
    float operator()(std::uint32_t piece, float within) const
    {
        const std::uint32_t k = piece % pieces;
        float value = coefficient[Degree][k];
        for (int power = Degree - 1; power >= 0; --power) {
            value = std::fma(value, within, coefficient[power][k]);
        }
        return value;
    }

    friend bool operator==(const PolynomialPieces&, const PolynomialPieces&) = default;

    /// Sets piece k to interpolate the values. Plain arithmetic: equal inputs give
    /// equal pieces on every machine.
    void pass_through(int k, const Values& values);
};

/// Standard normal quantile of 32 random bits, at probability (bits + 1/2) / 2^32: one piece per octave of
/// the distance from the nearer tail, symmetric. Largest error: 7e-5 (tested).
class NormalScores {
public:
    NormalScores() = default;
    /// `normal`: the standard normal quantile.
    explicit NormalScores(const Quantile& normal);

    float operator()(std::uint32_t bits) const
    {
        const std::uint32_t distance = bits ^ (0U - (bits >> 31));
        const float x = static_cast<float>(static_cast<std::int32_t>(distance)) + 0.5F;
        const auto pattern = std::bit_cast<std::uint32_t>(x < largest_distance ? x : largest_distance);
        const float within = std::bit_cast<float>((pattern & mantissa_mask) | one) - 1.5F;
        const auto score =
            std::bit_cast<std::uint32_t>(octave((pattern >> mantissa_bits) - first_exponent, within));
        return std::bit_cast<float>(score ^ (bits & sign_bit));
    }

    static constexpr float largest_distance = 0x1.fffffep30F;  // the last number below 2^31
    static constexpr std::uint32_t mantissa_bits = 23;
    static constexpr std::uint32_t mantissa_mask = (1U << mantissa_bits) - 1;
    static constexpr std::uint32_t first_exponent = 126;  // of 1/2, the smallest distance
    static constexpr std::uint32_t one = 127U << mantissa_bits;
    static constexpr std::uint32_t sign_bit = 1U << 31;

    PolynomialPieces<4> octave;  // of the lower tail
};

/// Distribution of mean 0 and deviation 1 as a function of a normal score: Q(Phi(z)). Pieces of equal width
/// in z; a straight line where a cubic would decrease (at a jump).
class StandardDistribution {
public:
    static constexpr float pieces_per_unit = 2.4F;
    static constexpr int used_pieces = 31;  // |z| up to 15.5 / 2.4 = 6.46: p = 2^-34
    static constexpr int degree = 3;
    static constexpr int nodes = used_pieces * degree + 1;  // in z, from the lowest
    /// Normal probability of each node, counted from the nearer tail. Computed once and passed on, as
    /// mathematics libraries differ in the last bits.
    using NodeProbabilities = std::array<double, nodes>;
    static NodeProbabilities node_probabilities();

    StandardDistribution() = default;
    StandardDistribution(const Quantile& quantile, const NodeProbabilities& probability);
    /// Shifts and scales to mean 0 and deviation 1, which straight lines through jumps
    /// change. Leaves a constant unchanged.
    void standardise(const NodeProbabilities& probability);

    float operator()(float z) const
    {
        const float at = z * pieces_per_unit;
        const float shifted = at + rounding;
        return piece(std::bit_cast<std::uint32_t>(shifted), at - (shifted - rounding));
    }

    // added to a small number, it leaves the nearest integer in the low bits
    static constexpr float rounding = 0x1.8p23F;

    friend bool operator==(const StandardDistribution&, const StandardDistribution&) = default;

    PolynomialPieces<degree> piece;
};

}  // namespace prismopt
