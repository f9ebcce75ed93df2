#include "model/distribution/quantile_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace prismopt {

namespace {

// Distance from a tail, in units of 2^-32, at the tail end of a segment.
double knot(int segment)
{
    const int octave = segment / QuantileTable::segments_per_octave;
    const int within = segment % QuantileTable::segments_per_octave;
    return std::ldexp(0.5 * (1.0 + static_cast<double>(within) / QuantileTable::segments_per_octave), octave);
}

/// Where the middle of a segment is off the chord by more than this part of the rise, the function has a jump
/// or a kink there. Smooth quantile functions stay below: 1/p bends by 0.008 of its rise, 1/p^2 by 0.012.
constexpr double smooth = 0.015;

/// Mean between two places by Simpson's rule, halved (as often as `depth`) where it is not smooth. Most
/// segments are, and there the first step is enough: for Q = 1/p its error is 1e-8.
template <class Function>
double mean_between(const Function& f, double low, double high, double at_low, double at_high, int depth)
{
    const double middle = 0.5 * (low + high);
    const double at_middle = f(middle);
    const double bend = 0.5 * (at_low + at_high) - at_middle;
    constexpr double rounding = 1e-12;
    if (depth == 0 ||
        std::abs(bend) <= smooth * std::abs(at_high - at_low) + rounding * std::abs(at_middle)) {
        return at_middle + bend / 3.0;
    }
    return 0.5 * (mean_between(f, low, middle, at_low, at_middle, depth - 1) +
                  mean_between(f, middle, high, at_middle, at_high, depth - 1));
}

}  // namespace

QuantileTable::QuantileTable(const Quantile& quantile)
{
    constexpr int halvings = 20;
    pieces_.resize(2 * segments);
    for (int side = 0; side < 2; ++side) {
        const auto at = [&](double distance) {
            return quantile(std::min(distance * 0x1p-32, 0.5), side == 1);
        };
        double start = at(knot(0));
        for (int s = 0; s < segments; ++s) {
            const bool last = s + 1 == segments;
            const double end = last ? start : at(knot(s + 1));
            const double mean = last ? start : mean_between(at, knot(s), knot(s + 1), start, end, halvings);
            double rise = end - start;
            if (std::abs(mean - 0.5 * (start + end)) > smooth * std::abs(rise)) {
                // A jump near one end: less steep, so that no value is outside the function's.
                rise = std::copysign(2.0 * std::min(std::abs(mean - start), std::abs(end - mean)), rise);
            }
            pieces_[side * segments + s] =
                pack({static_cast<float>(mean - 0.5 * rise), static_cast<float>(rise)});
            start = end;
        }
    }
}

QuantileTable::QuantileTable(const QuantileTable& a, const QuantileTable& b, double weight)
    : pieces_(a.pieces_.size())
{
    // base and rise equally: plain floats in a row, which the compiler vectorises
    using Floats2 = std::array<float, 2>;
    const auto w = static_cast<float>(weight);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        const auto from = std::bit_cast<Floats2>(a.pieces_[i]);
        const auto to = std::bit_cast<Floats2>(b.pieces_[i]);
        pieces_[i] = std::bit_cast<std::uint64_t>(
            Floats2{from[0] + w * (to[0] - from[0]), from[1] + w * (to[1] - from[1])});
    }
}

bool QuantileTable::constant() const { return (*this)(0) == (*this)(~0U); }

double QuantileTable::mean() const
{
    double sum = 0.0;
    for (int side = 0; side < 2; ++side) {
        const std::uint64_t* piece = pieces_.data() + static_cast<std::ptrdiff_t>(side) * segments;
        // Below the first knot the sampler sees the first value only (distance 1/2 is its end).
        sum += knot(0) * static_cast<double>(unpack(*piece).base);
        for (int octave = 0; octave < octaves; ++octave) {
            double values = 0.0;
            for (int k = 0; k < segments_per_octave; ++k, ++piece) {
                values +=
                    static_cast<double>(unpack(*piece).base) + 0.5 * static_cast<double>(unpack(*piece).rise);
            }
            const int first = octave * segments_per_octave;
            sum += (knot(first + 1) - knot(first)) * values;
        }
    }
    return sum * 0x1p-32;
}

double Moments::cv() const { return mean > 0.0 ? std::sqrt(variance) / mean : 0.0; }

double Moments::skewness() const { return variance > 0.0 ? third / (variance * std::sqrt(variance)) : 0.0; }

Moments moments(const Quantile& quantile)
{
    constexpr int steps = 1600;
    constexpr double limit = 40.0;  // logit: beyond, p < 5e-18
    constexpr double width = limit / steps;
    std::vector<double> value(2 * steps + 1);
    std::vector<double> weight(2 * steps + 1);
    double total = 0.0;
    double sum = 0.0;
    for (int i = -steps; i <= steps; ++i) {
        const double tail = 1.0 / (1.0 + std::exp(std::abs(i * width)));  // probability of the nearer tail
        value[i + steps] = quantile(tail, i > 0);
        weight[i + steps] = tail * (1.0 - tail) * width;
        total += weight[i + steps];
        sum += weight[i + steps] * value[i + steps];
    }
    Moments result;
    result.mean = sum / total;
    for (int i = 0; i <= 2 * steps; ++i) {
        const double d = value[i] - result.mean;
        result.variance += weight[i] * d * d / total;
        result.third += weight[i] * d * d * d / total;
    }
    return result;
}

Quantile largest_of(const Quantile& quantile, double count)
{
    if (count == 1.0) {
        return quantile;
    }
    return [quantile, count](double p, bool upper) {
        // Lower probability of the base distribution is p^(1/count); its complement without
        // cancellation is -expm1(log p / count).
        const double log_p = upper ? std::log1p(-p) : std::log(p);
        const double base_upper = -std::expm1(log_p / count);
        return base_upper < 0.5 ? quantile(base_upper, true) : quantile(std::exp(log_p / count), false);
    };
}

}  // namespace prismopt
