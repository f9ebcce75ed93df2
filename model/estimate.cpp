#include "model/estimate.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace prismopt {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// How much fewer independent draws the clusters are worth: variance of the cluster means of 1{draw <= x} over that of
/// independent draws, between 1 and the cluster size. Fewer than two clusters' worth of draws on one side of x cannot tell (if
/// x is the largest draw the variance is zero): then the worst is assumed.
double design_effect(std::span<const double> draws, std::size_t cluster, double x, double probability)
{
    const std::size_t clusters = draws.size() / cluster;
    if (cluster == 1 || clusters < 2) {
        return static_cast<double>(cluster);
    }
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t c = 0; c < clusters; ++c) {
        double below = 0.0;
        for (std::size_t k = 0; k < cluster; ++k) {
            below += draws[c * cluster + k] <= x ? 1.0 : 0.0;
        }
        sum += below;
        squares += below * below;
    }
    const auto size = static_cast<double>(cluster);
    const auto n = static_cast<double>(clusters);
    if (std::min(sum, n * size - sum) < 2.0 * size) {
        return size;
    }
    const double variance = (squares - sum * sum / n) / (n - 1.0);  // of a cluster's count
    const double independent = size * probability * (1.0 - probability);
    return std::clamp(variance / independent, 1.0, size);
}

/// Limits of the quantile among sorted draws worth n / deff independent ones: the order statistics X(l), X(u) with
/// P(count <= quantile is below l) and P(count >= u) at most (1 - level) / 2 each.
struct Limits {
    double low;
    double high;
};

Limits order_statistic_limits(const std::vector<double>& sorted, double deff, double probability, double level)
{
    const double tail = 0.5 * (1.0 - level);
    const double worth = std::max(1.0, std::floor(static_cast<double>(sorted.size()) / deff));
    const boost::math::binomial count(worth, probability);  // draws at or below the quantile
    const double step = static_cast<double>(sorted.size()) / worth;

    // Largest l with P(count <= l - 1) <= tail; smallest u with P(count >= u) <= tail.
    double l = std::floor(quantile(count, tail)) + 1.0;
    while (l > 0.0 && cdf(count, l - 1.0) > tail) {
        l -= 1.0;
    }
    double u = std::max(1.0, std::ceil(quantile(complement(count, tail))));
    while (u <= worth && cdf(complement(count, u - 1.0)) > tail) {
        u += 1.0;
    }
    const auto at = [&](double rank) {
        const auto position = static_cast<std::size_t>(std::ceil(rank * step));
        return sorted[std::clamp<std::size_t>(position, 1, sorted.size()) - 1];
    };
    return {l >= 1.0 ? at(l) : -infinite, u <= worth ? at(u) : infinite};
}

}  // namespace

Estimate quantile_estimate(std::span<const double> draws, std::size_t cluster, double probability, const Confidence& confidence)
{
    std::vector<double> sorted(draws.begin(), draws.end());
    std::sort(sorted.begin(), sorted.end());
    // The smallest draw that at least a share `probability` of the draws does not exceed.
    const auto rank = static_cast<std::size_t>(std::ceil(probability * static_cast<double>(sorted.size())));
    const double value = sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
    const double deff = design_effect(draws, cluster, value, probability);
    const Limits reported = order_statistic_limits(sorted, deff, probability, confidence.reported);
    const Limits safe = order_statistic_limits(sorted, deff, probability, confidence.safe);
    return {value, reported.low, reported.high, safe.low, safe.high};
}

Estimate mean_estimate(std::span<const double> draws, std::size_t cluster, const Confidence& confidence)
{
    const std::size_t clusters = draws.size() / cluster;
    std::vector<double> means(clusters, 0.0);
    double mean = 0.0;
    for (std::size_t c = 0; c < clusters; ++c) {
        for (std::size_t k = 0; k < cluster; ++k) {
            means[c] += draws[c * cluster + k];
        }
        means[c] /= static_cast<double>(cluster);
        mean += means[c];
    }
    const auto n = static_cast<double>(clusters);
    mean /= n;
    if (clusters < 2) {
        return {mean, -infinite, infinite, -infinite, infinite};
    }
    double squares = 0.0;
    for (const double m : means) {
        squares += (m - mean) * (m - mean);
    }
    const double error = std::sqrt(squares / (n - 1.0) / n);
    const boost::math::students_t t(n - 1.0);
    const double reported = error * quantile(complement(t, 0.5 * (1.0 - confidence.reported)));
    const double safe = error * quantile(complement(t, 0.5 * (1.0 - confidence.safe)));
    return {mean, mean - reported, mean + reported, mean - safe, mean + safe};
}

}  // namespace prismopt
