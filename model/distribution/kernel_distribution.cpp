#include "model/distribution/kernel_distribution.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

constexpr int per_octave = 16;
constexpr int octaves = 44;

/// Distance from the tail at a side's knot; one half at the last.
double probability(int knot)
{
    return std::ldexp(1.0 + static_cast<double>(knot % per_octave) / per_octave,
                      knot / per_octave - octaves - 1);
}

}  // namespace

KernelDistribution::KernelDistribution(const Quantile& quantile)
{
    cv_ = std::sqrt(moments(quantile).variance);
    constexpr double rounding = 1e-12;
    if (cv_ < rounding) {
        cv_ = 0.0;
        return;
    }
    core_ = std::clamp(0.5 * (quantile(0.16, true) - quantile(0.16, false)), 0.25 * cv_, cv_);
    const double jump = 0.5 * cv_;  // smooth distributions rise by a few hundredths from knot to knot
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

KernelDistribution KernelDistribution::of_one_draw(std::span<const Share> shares)
{
    KernelDistribution sum;
    sum.quantile_.front() = 0.0;
    struct Place {
        const KernelDistribution* distribution;
        double share;
        std::size_t piece = 0;
        double begin = beyond;  // probability below the piece

        double end() const { return begin + distribution->mass_[piece]; }
        double quantile(double p) const
        {
            const double low = distribution->quantile_[piece];
            return low +
                   (distribution->quantile_[piece + 1] - low) * (p - begin) / distribution->mass_[piece];
        }
    };
    std::vector<Place> places;
    double constant = 0.0;
    for (const Share& share : shares) {
        sum.core_ += share.of_all * share.distribution->core_;
        sum.quantile_.front() += share.of_all * share.distribution->quantile_.front();
        if (share.distribution->pieces() > 0) {
            places.push_back({share.distribution, share.of_all});
        } else {
            constant += share.of_all;
        }
    }
    // Masses are multiples of 2^-49, so that their sums are exact and distributions end together.
    Sums chords;
    double begin = beyond;
    while (!places.empty() && places.front().piece < places.front().distribution->pieces()) {
        const double end = std::min_element(places.begin(), places.end(), [](const Place& a, const Place& b) {
                               return a.end() < b.end();
                           })->end();
        double quantile = constant;
        for (Place& place : places) {
            quantile += place.share * place.quantile(end);
            if (place.end() == end) {
                ++place.piece;
                place.begin = end;
            }
        }
        chords.add_chord(end - begin, sum.quantile_.back(), quantile);
        sum.mass_.push_back(end - begin);
        sum.quantile_.push_back(quantile);
        begin = end;
    }
    sum.cv_ = chords.deviation();
    sum.core_ = std::clamp(sum.core_, 0.25 * sum.cv_, sum.cv_);
    return sum;
}

KernelDistribution KernelDistribution::limited(double most) const
{
    KernelDistribution distribution = *this;
    Sums chords;
    for (double& q : distribution.quantile_) {
        q = std::min(q, most);
    }
    for (std::size_t k = 0; k < distribution.pieces(); ++k) {
        chords.add_chord(distribution.mass_[k], distribution.quantile_[k], distribution.quantile_[k + 1]);
    }
    const double mean = 1.0 + chords.first;
    for (double& q : distribution.quantile_) {
        q /= mean;
    }
    distribution.cv_ = chords.deviation() / mean;
    distribution.core_ = std::clamp(distribution.core_ / mean, 0.25 * distribution.cv_, distribution.cv_);
    return distribution;
}

/// One piece, or more where the quantile function jumps: until a thousandth of the
/// tail, or of 2^-20, is not resolved.
void KernelDistribution::add_pieces(const Quantile& quantile, double from, double to, bool upper, double jump,
                                    Sums& sums)
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

void KernelDistribution::Sums::add(double mass, double x)
{
    first += mass * (x - 1.0);
    second += mass * (x - 1.0) * (x - 1.0);
}

void KernelDistribution::Sums::add_chord(double mass, double from, double to)
{
    add(mass, 0.5 * (from + to));
    second += mass * (to - from) * (to - from) / 12.0;
}

double KernelDistribution::Sums::deviation() const { return std::sqrt(second - first * first); }

/// Mean one and the distribution's variance: even pieces have a little more (chords of a
/// quantile function lie outside it).
void KernelDistribution::normalise(const Sums& distribution)
{
    Sums chords;
    for (std::size_t k = 0; k < pieces(); ++k) {
        chords.add_chord(mass_[k], quantile_[k], quantile_[k + 1]);
    }
    cv_ = distribution.deviation();
    const double scale = cv_ / chords.deviation();
    for (double& q : quantile_) {
        q = 1.0 + (q - 1.0 - chords.first) * scale;
    }
}

}  // namespace prismopt
