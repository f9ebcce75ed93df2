#include "model/noise/kernel_law.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

constexpr int per_octave = 16;
constexpr int octaves = 44;

/// Distance from the tail at a side's knot; one half at the last.
double probability(int knot)
{
    return std::ldexp(1.0 + static_cast<double>(knot % per_octave) / per_octave, knot / per_octave - octaves - 1);
}

}  // namespace

KernelLaw::KernelLaw(const Quantile& quantile)
{
    cv_ = std::sqrt(moments(quantile).variance);
    constexpr double rounding = 1e-12;
    if (cv_ < rounding) {
        cv_ = 0.0;
        return;
    }
    core_ = std::clamp(0.5 * (quantile(0.16, true) - quantile(0.16, false)), 0.25 * cv_, cv_);
    const double jump = 0.5 * cv_;  // smooth laws rise by a few hundredths from knot to knot
    quantile_ = {quantile(beyond, false)};
    Sums sums;
    for (int k = 0; k < octaves * per_octave; ++k) {
        add_pieces(quantile, probability(k), probability(k + 1), false, jump, sums);
    }
    for (int k = octaves * per_octave; k > 0; --k) {
        add_pieces(quantile, probability(k), probability(k - 1), true, jump, sums);
    }
    normalise(sums);
}

/// One piece, or more where the quantile function jumps: until a thousandth of the tail, or of 2^-20, is not resolved.
void KernelLaw::add_pieces(const Quantile& quantile, double from, double to, bool upper, double jump, Sums& sums)
{
    const double mass = std::abs(to - from);
    const double end = quantile(to, upper);
    if (end - quantile_.back() > jump && mass > 0x1p-10 * std::max(0x1p-20, std::min(from, to))) {
        const double middle = 0.5 * (from + to);
        add_pieces(quantile, from, middle, upper, jump, sums);
        add_pieces(quantile, middle, to, upper, jump, sums);
        return;
    }
    sums.add(mass / 6.0, quantile_.back());  // Simpson's rule
    sums.add(mass / 1.5, quantile(0.5 * (from + to), upper));
    sums.add(mass / 6.0, end);
    mass_.push_back(mass);
    quantile_.push_back(end);
}

void KernelLaw::Sums::add(double mass, double x)
{
    first += mass * (x - 1.0);
    second += mass * (x - 1.0) * (x - 1.0);
}

/// Mean one and the law's variance: even pieces have a little more (chords of a quantile function lie outside it).
void KernelLaw::normalise(const Sums& law)
{
    Sums chords;
    for (std::size_t k = 0; k < pieces(); ++k) {
        const double middle = 0.5 * (quantile_[k] + quantile_[k + 1]);
        const double width = quantile_[k + 1] - quantile_[k];
        chords.add(mass_[k], middle);
        chords.second += mass_[k] * width * width / 12.0;
    }
    cv_ = std::sqrt(law.second - law.first * law.first);
    const double scale = cv_ / std::sqrt(chords.second - chords.first * chords.first);
    for (double& q : quantile_) {
        q = 1.0 + (q - 1.0 - chords.first) * scale;
    }
}

}  // namespace prismopt
