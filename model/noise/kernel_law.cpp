#include "model/noise/kernel_law.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

constexpr int half = KernelLaw::pieces / 2;

/// Distance from the tail at a side's knot.
double probability(int knot)
{
    return std::ldexp(1.0 + static_cast<double>(knot % KernelLaw::per_octave) / KernelLaw::per_octave,
                      knot / KernelLaw::per_octave - KernelLaw::octaves - 1);
}

struct MeanVariance {
    double mean = 0.0;
    double variance = 0.0;
};

/// Of a law that is linear in p between these quantiles.
MeanVariance of_pieces(const std::vector<double>& quantile)
{
    double first = KernelLaw::beyond * (quantile.front() - 1.0 + quantile.back() - 1.0);
    double second = KernelLaw::beyond * (std::pow(quantile.front() - 1.0, 2) + std::pow(quantile.back() - 1.0, 2));
    for (int k = 0; k < KernelLaw::pieces; ++k) {
        const double middle = 0.5 * (quantile[k] + quantile[k + 1]) - 1.0;
        const double width = quantile[k + 1] - quantile[k];
        first += KernelLaw::mass(k) * middle;
        second += KernelLaw::mass(k) * (middle * middle + width * width / 12.0);
    }
    return {1.0 + first, second - first * first};
}

}  // namespace

KernelLaw::KernelLaw(const Quantile& quantile)
{
    quantile_.reserve(pieces + 1);
    for (int k = 0; k < half; ++k) {
        quantile_.push_back(quantile(probability(k), false));
    }
    for (int k = half; k >= 0; --k) {
        quantile_.push_back(quantile(probability(k), true));
    }
    // The pieces have a little more variance than the law (chords of a quantile function lie outside it).
    const MeanVariance chords = of_pieces(quantile_);
    constexpr double rounding = 1e-24;
    if (chords.variance > rounding) {
        cv_ = std::sqrt(moments(quantile).variance);
    }
    const double scale = cv_ > 0.0 ? cv_ / std::sqrt(chords.variance) : 0.0;
    for (double& q : quantile_) {
        q = 1.0 + (q - chords.mean) * scale;
    }
}

double KernelLaw::mass(int piece)
{
    const int from_tail = std::min(piece, pieces - 1 - piece);
    return std::ldexp(1.0 / per_octave, from_tail / per_octave - octaves - 1);
}

}  // namespace prismopt
