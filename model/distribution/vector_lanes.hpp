#pragma once

/// Vectorised functions of model/distribution/polynomial_pieces.hpp, lane by lane.

#include "model/base/registers.hpp"
#include "model/distribution/polynomial_pieces.hpp"

namespace prismopt {

/// Pieces that all lanes need in most cases: the last ones (octaves near the median),
/// or those on both sides of zero.
enum class Mostly { last_pieces, small_pieces };

/// Horner's rule with coefficients from pick(coefficients of a power, coefficient of each lane).
template <class R, int Degree, class Pick>
[[gnu::always_inline]] inline void horner(const PolynomialPieces<Degree>& pieces,
                                          const typename R::Float& within, typename R::Float& out,
                                          Pick&& pick)
{
    typename R::Float value;
    pick(pieces.coefficient[Degree], value);
    for (int power = Degree - 1; power >= 0; --power) {
        typename R::Float next;
        pick(pieces.coefficient[power], next);
        R::multiply_add(value, within, next, value);
    }
    out = value;
}

/// PolynomialPieces::operator().
template <class R, Mostly mostly, int Degree>
[[gnu::always_inline]] inline void evaluate(const PolynomialPieces<Degree>& pieces,
                                            const typename R::Int& piece, const typename R::Float& within,
                                            typename R::Float& out)
{
    using Entries = std::array<float, PolynomialPieces<Degree>::pieces>;
    using Float = typename R::Float;
    if (mostly == Mostly::last_pieces && R::all_pick_last(piece)) {
        horner<R>(pieces, within, out, [&](const Entries& entries, Float& picked) PRISMOPT_INLINE {
            R::pick_last(entries, piece, picked);
        });
    } else if (mostly == Mostly::small_pieces && R::all_pick_small(piece)) {
        horner<R>(pieces, within, out, [&](const Entries& entries, Float& picked) PRISMOPT_INLINE {
            R::pick_small(entries, piece, picked);
        });
    } else {
        horner<R>(pieces, within, out, [&](const Entries& entries, Float& picked) PRISMOPT_INLINE {
            R::pick(entries, piece, picked);
        });
    }
}

/// StandardDistribution::operator(): scores in, draws out.
template <class R>
[[gnu::always_inline]] inline void standard_draw(const StandardDistribution& distribution,
                                                 typename R::Float& score)
{
    using Float = typename R::Float;
    const Float at = score * StandardDistribution::pieces_per_unit;
    const Float shifted = at + StandardDistribution::rounding;
    const Float within = at - (shifted - StandardDistribution::rounding);
    evaluate<R, Mostly::small_pieces>(distribution.piece, reinterpret_cast<const typename R::Int&>(shifted),
                                      within, score);
}

/// NormalScores::operator().
template <class R>
[[gnu::always_inline]] inline void normal_score(const NormalScores& scores, const typename R::Word& bits,
                                                typename R::Float& out)
{
    using S = NormalScores;
    using Float = typename R::Float;
    using Int = typename R::Int;
    using Word = typename R::Word;
    const Word distance = bits ^ (0U - (bits >> 31));
    const Float x = __builtin_convertvector(reinterpret_cast<const Int&>(distance), Float) + 0.5F;
    const Float held = x < S::largest_distance ? x : Float{} + S::largest_distance;
    const auto& pattern = reinterpret_cast<const Word&>(held);
    const Word mantissa = (pattern & S::mantissa_mask) | S::one;
    const Word octave = (pattern >> S::mantissa_bits) - S::first_exponent;
    const Float within = reinterpret_cast<const Float&>(mantissa) - 1.5F;
    Float score;
    evaluate<R, Mostly::last_pieces>(scores.octave, reinterpret_cast<const Int&>(octave), within, score);
    const Word flipped = reinterpret_cast<const Word&>(score) ^ (bits & S::sign_bit);
    out = reinterpret_cast<const Float&>(flipped);
}

}  // namespace prismopt
