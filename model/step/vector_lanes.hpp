#pragma once

/// Sixteen draws in one register (or in as many as a machine needs), for loops that plain code does not reach.
///
/// GCC's and clang's vector types: ordinary operators, lane by lane, the same bits on every machine. Only picking a piece
/// has no operator: GCC's __builtin_shuffle looks it up in registers (vpermi2ps), which is what the 32 pieces are for.

#include "model/noise/polynomial_pieces.hpp"
#include "model/random.hpp"

#include <array>
#include <cstdint>

namespace prismopt {

inline constexpr int vector_width = 16;
inline constexpr int vectors = lanes / vector_width;  // in a row of lanes

// clang-format off
typedef float FloatVector __attribute__((vector_size(64), may_alias));
typedef std::int32_t IntVector __attribute__((vector_size(64), may_alias));
typedef std::uint32_t WordVector __attribute__((vector_size(64), may_alias));
// clang-format on

[[gnu::always_inline]] inline FloatVector& vector_at(Lanes<float>& row, int v)
{
    return reinterpret_cast<FloatVector*>(row.at)[v];
}
[[gnu::always_inline]] inline const FloatVector& vector_at(const Lanes<float>& row, int v)
{
    return reinterpret_cast<const FloatVector*>(row.at)[v];
}
[[gnu::always_inline]] inline const WordVector& vector_at(const Words& row, int v)
{
    return reinterpret_cast<const WordVector*>(row.at)[v];
}

/// Each lane's entry of 32: only the five low bits of its index count.
[[gnu::always_inline]] inline void pick(const std::array<float, 32>& entries, const IntVector& index, FloatVector& out)
{
#if defined(__GNUC__) && !defined(__clang__)
    const auto* half = reinterpret_cast<const FloatVector*>(entries.data());
    out = __builtin_shuffle(half[0], half[1], index);
#else
    for (int l = 0; l < vector_width; ++l) {
        out[l] = entries[static_cast<std::uint32_t>(index[l]) % entries.size()];
    }
#endif
}

/// PolynomialPieces::operator() in 16 lanes; the same arithmetic in the same order. Results go out by reference: returned by value
/// they would travel differently on machines of different vector widths.
template <int Degree>
[[gnu::always_inline]] inline void evaluate(const PolynomialPieces<Degree>& pieces, const IntVector& piece,
                                            const FloatVector& within, FloatVector& out)
{
    FloatVector value;
    pick(pieces.coefficient[Degree], piece, value);
    for (int power = Degree - 1; power >= 0; --power) {
        FloatVector next;
        pick(pieces.coefficient[power], piece, next);
        value = value * within + next;
    }
    out = value;
}

/// StandardLaw::operator() in 16 lanes: scores in, draws out.
[[gnu::always_inline]] inline void standard_draw(const StandardLaw& law, FloatVector& score)
{
    const FloatVector at = score * StandardLaw::pieces_per_unit;
    const FloatVector shifted = at + StandardLaw::rounding;
    evaluate(law.piece, reinterpret_cast<const IntVector&>(shifted), at - (shifted - StandardLaw::rounding), score);
}

/// NormalScores::operator() in 16 lanes.
[[gnu::always_inline]] inline void normal_score(const NormalScores& scores, const WordVector& bits, FloatVector& out)
{
    using S = NormalScores;
    const WordVector distance = bits ^ (0U - (bits >> 31));
    const FloatVector x = __builtin_convertvector(reinterpret_cast<const IntVector&>(distance), FloatVector) + 0.5F;
    const FloatVector held = x < S::largest_distance ? x : FloatVector{} + S::largest_distance;
    const auto& pattern = reinterpret_cast<const WordVector&>(held);
    const WordVector mantissa = (pattern & S::mantissa_mask) | S::one;
    const WordVector octave = (pattern >> S::mantissa_bits) - S::first_exponent;
    FloatVector score;
    evaluate(scores.octave, reinterpret_cast<const IntVector&>(octave), reinterpret_cast<const FloatVector&>(mantissa) - 1.5F,
             score);
    const WordVector flipped = reinterpret_cast<const WordVector&>(score) ^ (bits & S::sign_bit);
    out = reinterpret_cast<const FloatVector&>(flipped);
}

}  // namespace prismopt
