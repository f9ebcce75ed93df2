#include "model/step/graph/coupled_distribution.hpp"

#include "model/distribution/vector_lanes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <vector>

namespace prismopt {

namespace {

// Of members that hardly vary between barriers the slowest decides with any such power.
constexpr int most_squarings = 9;
constexpr double steeper = 1.15;  // best k over Gumbel's: docs/methods/coupling.md

/// Of x from 1 up, to 1e-9; by halving and squaring, so that it is the same on every machine.
double binary_logarithm(double x)
{
    double result = 0.0;
    while (x >= 2.0) {
        x /= 2.0;
        result += 1.0;
    }
    double digit = 1.0;
    for (int i = 0; i < 30; ++i) {
        digit /= 2.0;
        x *= x;
        if (x >= 2.0) {
            x /= 2.0;
            result += digit;
        }
    }
    return result;
}

/// The same barriers, with the first n of a set's members there; n may be more than there are.
BarrierWidths of_members(const BarrierWidths& widths, int n)
{
    BarrierWidths result{widths.tensor, widths.context};
    const bool by_pass = widths.pass > 1;
    const bool by_layer = widths.layer > 1;
    result.experts = by_pass || by_layer ? std::min(n, widths.experts) : n;
    const int sets = n / result.experts;
    result.layer = by_pass ? std::min(sets, widths.layer) : sets;
    result.pass = sets / result.layer;
    return result;
}

double mean_time(ChainDistributions& chains, std::span<const ChunkPass> passes, const BarrierWidths& widths,
                 int members)
{
    double sum = 0.0;
    for (const ComposedDuration& duration : set_durations(chains, passes, of_members(widths, members))) {
        sum += duration.mean_s;
    }
    return sum;
}

/// From `at_one` at n = 1, the octave's start, to `at_two`, along log2(n): t + bend t (1 - t), exact
/// at both ends and in the middle.
void set_octave(PolynomialPieces<2>& pieces, std::size_t octave, double at_one, double at_two)
{
    constexpr double bend = 4.0 * (0.5849625007211562 - 0.5);  // log2(1.5)
    const double rise = at_two - at_one;
    pieces.coefficient[0][octave] = static_cast<float>(at_one + rise * (0.5 + 0.25 * bend));
    pieces.coefficient[1][octave] = static_cast<float>(rise);
    pieces.coefficient[2][octave] = static_cast<float>(-bend * rise);
}

constexpr std::uint32_t mantissa_bits = 23;
constexpr std::uint32_t mantissa_mask = (1U << mantissa_bits) - 1;
constexpr std::uint32_t one = 127U << mantissa_bits;

/// distribution.waiting at n = `equal`, from one up.
template <class R>
[[gnu::always_inline]] inline void waiting_of(const CoupledDistribution& distribution,
                                              const typename R::Float& equal, typename R::Float& out)
{
    using Word = typename R::Word;
    const auto& pattern = reinterpret_cast<const Word&>(equal);
    const Word octave = (pattern - one) >> mantissa_bits;
    const Word mantissa = (pattern & mantissa_mask) | one;
    const typename R::Float within = reinterpret_cast<const typename R::Float&>(mantissa) - 1.5F;
    evaluate<R, Mostly::small_pieces>(distribution.waiting, reinterpret_cast<const typename R::Int&>(octave),
                                      within, out);
}

float waiting_of(const CoupledDistribution& distribution, float equal)
{
    const auto pattern = std::bit_cast<std::uint32_t>(equal);
    return distribution.waiting((pattern - one) >> mantissa_bits,
                                std::bit_cast<float>((pattern & mantissa_mask) | one) - 1.5F);
}

/// `sum`: of the members' (X / slowest)^k, ^2k and ^4k.
struct PowerSums {
    Floats slowest;
    std::array<Floats, 3> sum;
};

template <class R>
[[gnu::always_inline]] inline void add_powers(int squarings, int members, const MemberRows& a,
                                              const MemberRows& b, PowerSums& powers)
{
    using Float = typename R::Float;
    for (int v = 0; v < R::per_row; ++v) {
        Float slowest{};
        for (int r = 0; r < members; ++r) {
            const Float x = R::at(a.first[r * a.stride], v) * R::at(b.first[r * b.stride], v);
            slowest = x > slowest ? x : slowest;
        }
        const Float inverse = 1.0F / slowest;
        Float sum{};
        Float sum_of_squares{};
        Float sum_of_fourths{};
        for (int r = 0; r < members; ++r) {
            Float power = R::at(a.first[r * a.stride], v) * R::at(b.first[r * b.stride], v) * inverse;
            for (int i = 0; i < squarings; ++i) {
                power = power * power;
            }
            sum = sum + power;
            power = power * power;
            sum_of_squares = sum_of_squares + power;
            sum_of_fourths = sum_of_fourths + power * power;
        }
        R::at(powers.slowest, v) = slowest;
        R::at(powers.sum[0], v) = sum;
        R::at(powers.sum[1], v) = sum_of_squares;
        R::at(powers.sum[2], v) = sum_of_fourths;
    }
}

/// Factor over the slowest member's, from P1 = low and P2 = high of k = 2^squarings. The root is that many
/// square roots, each as exact as a sum.
template <class R>
[[gnu::always_inline]] inline void factor_of_powers(const CoupledDistribution& distribution, int squarings,
                                                    const Floats& low, const Floats& high, Floats& out)
{
    using Float = typename R::Float;
    Floats equal;
    for (int v = 0; v < R::per_row; ++v) {
        const Float mean = R::at(high, v) / R::at(low, v);
        const Float n = R::at(low, v) / mean;
        R::at(out, v) = mean;
        R::at(equal, v) = n > 1.0F ? n : Float{} + 1.0F;
    }
    for (int i = 0; i < squarings; ++i) {
        for (float& mean : out.at) {
            mean = std::sqrt(mean);
        }
    }
    for (int v = 0; v < R::per_row; ++v) {
        Float waiting;
        waiting_of<R>(distribution, R::at(equal, v), waiting);
        R::at(out, v) = R::at(out, v) * waiting;
    }
}

}  // namespace

std::vector<ComposedDuration> set_durations(ChainDistributions& chains, std::span<const ChunkPass> passes,
                                            const BarrierWidths& widths)
{
    assert(passes.size() >= 2);
    BarrierWidths alone = widths;
    alone.pass = 1;
    std::vector<ComposedDuration> distributions;
    std::vector<double> waits;
    for (const ChunkPass& pass : passes) {
        distributions.push_back(chains.compose(pass, widths).compute);
        waits.push_back(distributions.back().mean_s - chains.compose(pass, alone).compute.mean_s);
    }
    const double sum = waits[0] + waits[1];
    for (std::size_t i = 0; sum > 0.0 && i < distributions.size(); ++i) {
        const double deviation = distributions[i].cv * distributions[i].mean_s;
        distributions[i].mean_s -= waits[i] * (1.0 - std::hypot(waits[0], waits[1]) / sum);
        distributions[i].cv = distributions[i].mean_s > 0.0
                                  ? deviation / distributions[i].mean_s
                                  : 0.0;  // a chunk without layers has no weights' gradients
    }
    return distributions;
}

CoupledDistribution coupled_distribution(ChainDistributions& chains, std::span<const ChunkPass> passes,
                                         const BarrierWidths& widths)
{
    const int members = widths.replicas();
    const double alone = mean_time(chains, passes, widths, 1);
    const double together = mean_time(chains, passes, widths, members);
    CoupledDistribution distribution;
    const double waiting = binary_logarithm(std::max(1.0, together / alone));
    const double steepest = std::ldexp(2.0, most_squarings);
    const double gumbel = binary_logarithm(members);
    const double k = steeper * gumbel < steepest * waiting ? steeper * gumbel / waiting : steepest;
    while (distribution.squarings < most_squarings && std::ldexp(2.0, distribution.squarings) <= k) {
        ++distribution.squarings;
    }
    distribution.weight_of_double =
        static_cast<float>(std::clamp(std::ldexp(k, -distribution.squarings) - 1.0, 0.0, 1.0));

    std::vector<double> mean{alone};
    while (1 << (mean.size() - 1) < members) {
        mean.push_back(mean_time(chains, passes, widths, 1 << mean.size()));
    }
    mean.push_back(mean.back());  // n may be rounded up across the last
    for (std::size_t octave = 0; octave + 1 < mean.size(); ++octave) {
        const auto share = [together](double seconds) { return together > 0.0 ? seconds / together : 1.0; };
        set_octave(distribution.waiting, octave, share(mean[octave]), share(mean[octave + 1]));
    }
    // One for equal members, whatever was interpolated.
    const float at_all = waiting_of(distribution, static_cast<float>(members));
    for (auto& coefficients : distribution.waiting.coefficient) {
        for (float& c : coefficients) {
            c /= at_all;
        }
    }
    return distribution;
}

void set_factor(const CoupledDistribution& distribution, int members, MemberRows a, MemberRows b, Floats& out)
{
    on_registers([&](auto registers) PRISMOPT_INLINE {
        using R = decltype(registers);
        PowerSums powers;
        add_powers<R>(distribution.squarings, members, a, b, powers);
        Floats of_double;
        factor_of_powers<R>(distribution, distribution.squarings, powers.sum[0], powers.sum[1], out);
        factor_of_powers<R>(distribution, distribution.squarings + 1, powers.sum[1], powers.sum[2],
                            of_double);
        for (int v = 0; v < R::per_row; ++v) {
            const typename R::Float single = R::at(out, v);
            R::at(out, v) = R::at(powers.slowest, v) *
                            (single + distribution.weight_of_double * (R::at(of_double, v) - single));
        }
    });
}

}  // namespace prismopt
