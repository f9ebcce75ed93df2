#include "model/distribution/distribution.hpp"

#include <boost/math/quadrature/gauss.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace prismopt {

namespace {

/// Smallest value that any factor may take before it is normalised: logarithms of factors exist.
constexpr double smallest_factor = 1e-3;

/// Less of a distribution than this within the cap says that the cap is wrong.
constexpr double least_share = 1e-6;

FamilyFunctions with_slow_mode(const Distribution& distribution)
{
    if (distribution.slow.probability == 0.0) {
        return functions_of(distribution.family);
    }
    const double q = distribution.slow.probability;
    return functions_of(Mixture{
        {{1.0 - q, 1.0, distribution.family}, {q, 1.0 + distribution.slow.excess, distribution.family}}});
}

/// Central moments from the probabilities of a distribution on (0, end]: for c within it,
///     E[(X - c)^k] = integral over x > c of k (x - c)^(k-1) P(X > x) + (-1)^k integral over x <
///     c of k (c - x)^(k-1) P(X <= x),
/// by parts. Gauss' rule between knots, where the probabilities are smooth; adaptive rules would chase the
/// digits that are lost beside a bound.
template <class Probability>
Moments integrate_moments(const std::vector<double>& rising, double end, double centre,
                          const Probability& probability)
{
    using Rule = boost::math::quadrature::gauss<double, 20>;
    constexpr double negligible = 0x1p-59;  // times the longest cap, 1e6, it is 2e-12
    std::vector<double> knots{0.0, smallest_factor, centre, end};
    std::copy_if(rising.begin(), rising.end(), std::back_inserter(knots),
                 [&](double x) { return x > 0.0 && x < end; });
    std::sort(knots.begin(), knots.end());
    double sum[4] = {};
    for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
        const bool upper = knots[i] >= centre;
        const double middle = 0.5 * (knots[i] + knots[i + 1]);
        const double half = 0.5 * (knots[i + 1] - knots[i]);
        if (half == 0.0 || probability(upper ? knots[i] : knots[i + 1], upper) < negligible) {
            continue;
        }
        for (std::size_t node = 0; node < Rule::abscissa().size(); ++node) {
            for (const double side : {-1.0, 1.0}) {
                const double distance = middle + side * half * Rule::abscissa()[node] - centre;
                const double weight = Rule::weights()[node] * half * probability(centre + distance, upper);
                sum[1] += upper ? weight : -weight;
                sum[2] += 2.0 * std::abs(distance) * weight;
                sum[3] += 3.0 * distance * std::abs(distance) * weight;
            }
        }
    }
    Moments moments;
    moments.mean = centre + sum[1];
    moments.variance = sum[2] - sum[1] * sum[1];
    moments.third = sum[3] - 3.0 * sum[1] * sum[2] + 2.0 * sum[1] * sum[1] * sum[1];
    return moments;
}

}  // namespace

DistributionQuantile::DistributionQuantile(const Distribution& distribution)
    : family_(with_slow_mode(distribution)), cap_(distribution.cap)
{
    below_ = family_.probability(0.0, false);
    beyond_ = family_.probability(cap_, true);
    if (!(cap_ > 0.0) || !(1.0 - below_ - beyond_ >= least_share)) {
        throw std::domain_error("a distribution of durations needs a cap above most of its probability mass");
    }
    constexpr double deep = 0x1p-60;
    constant_ = untruncated(deep, false) == untruncated(deep, true);
    raw_.mean = untruncated(0.5, false);
    if (!constant_) {
        const auto probability = [this](double x, bool upper) { return truncated_probability(x, upper); };
        // First about the median, then about the mean itself, which loses no digits of the higher moments.
        raw_ = integrate_moments(family_.knots, cap_, raw_.mean, probability);
        raw_ = integrate_moments(family_.knots, cap_, raw_.mean, probability);
    }
}

/// The family's quantile where the truncated distribution has probability p.
double DistributionQuantile::untruncated(double p, bool upper) const
{
    const double share = 1.0 - below_ - beyond_;
    const double from_end = (upper ? beyond_ : below_) + p * share;
    const bool near = from_end <= 0.5;
    const double value = near ? family_.quantile(from_end, upper)
                              : family_.quantile((upper ? below_ : beyond_) + (1.0 - p) * share, !upper);
    return std::clamp(value, std::min(smallest_factor, cap_), cap_);
}

double DistributionQuantile::truncated_probability(double x, bool upper) const
{
    if (x < smallest_factor || x >= cap_) {
        return (x < smallest_factor) == upper ? 1.0 : 0.0;
    }
    return (family_.probability(x, upper) - (upper ? beyond_ : below_)) / (1.0 - below_ - beyond_);
}

double DistributionQuantile::operator()(double p, bool upper) const
{
    if (!(p > 0.0 && p < 1.0)) {
        throw std::domain_error("a quantile needs a probability between 0 and 1");
    }
    return constant_ ? 1.0 : untruncated(p, upper) / raw_.mean;
}

double DistributionQuantile::probability(double x, bool upper) const
{
    return constant_ ? ((x < 1.0) == upper ? 1.0 : 0.0) : truncated_probability(x * raw_.mean, upper);
}

double DistributionQuantile::longest() const { return constant_ ? 1.0 : cap_ / raw_.mean; }

Moments DistributionQuantile::moments() const
{
    const double mean = raw_.mean;
    return {1.0, raw_.variance / (mean * mean), raw_.third / (mean * mean * mean)};
}

double beyond_cap(const Distribution& distribution)
{
    return with_slow_mode(distribution).probability(distribution.cap, true);
}

}  // namespace prismopt
