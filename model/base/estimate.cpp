#include "model/base/estimate.hpp"

#include "model/base/powers.hpp"
#include "model/base/root.hpp"
#include "model/base/statistics.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/complement.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

namespace prismopt {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double two_sided_score(double level) { return normal_quantile(0.5 * (1.0 - level), true); }
double two_sided_student_score(double freedom, double level)
{
    return student_quantile(freedom, 0.5 * (1.0 - level), true);
}

/// Mean of equal clusters of consecutive values, and its standard error.
struct ClusterMean {
    double mean = 0.0;
    double error = infinite;
    double clusters = 0.0;
    double skewness = 0.0;  // of the clusters' means
};
ClusterMean cluster_mean(std::span<const double> values, std::size_t size)
{
    const std::size_t clusters = values.size() / size;
    std::vector<double> means(clusters, 0.0);
    ClusterMean result;
    result.clusters = static_cast<double>(clusters);
    for (std::size_t c = 0; c < clusters; ++c) {
        for (std::size_t k = 0; k < size; ++k) {
            means[c] += values[c * size + k];
        }
        means[c] /= static_cast<double>(size);
        result.mean += means[c] / result.clusters;
    }
    if (clusters < 2) {
        return result;
    }
    double squares = 0.0;
    double cubes = 0.0;
    for (const double m : means) {
        squares += square(m - result.mean);
        cubes += cube(m - result.mean);
    }
    result.error = std::sqrt(squares / (result.clusters - 1.0) / result.clusters);
    result.skewness = squares > 0.0 ? std::sqrt(result.clusters) * cubes / std::pow(squares, 1.5) : 0.0;
    return result;
}

bool blocks_suffice(std::size_t draws, const Clusters& clusters)
{
    return clusters.block > 0 && draws / clusters.block >= least_blocks;
}

/// By blocks where there are enough, else by fleets.
ClusterMean closest_mean(std::span<const double> draws, const Clusters& clusters)
{
    return cluster_mean(draws, blocks_suffice(draws.size(), clusters) ? clusters.block : clusters.size);
}

/// How much fewer independent draws the clusters are worth: variance of the cluster means of 1{draw <= x}
/// over that of independent draws. Nothing where too few draws lie on one side of x to estimate it.
std::optional<double> measured_effect(std::span<const double> draws, std::size_t size, double x,
                                      double probability, double least_beyond)
{
    std::vector<double> below;
    below.reserve(draws.size());
    double sum = 0.0;
    for (const double draw : draws) {
        below.push_back(draw <= x ? 1.0 : 0.0);
        sum += below.back();
    }
    const auto n = static_cast<double>(draws.size());
    if (draws.size() / size < 2 || std::min(sum, n - sum) < least_beyond) {
        return std::nullopt;
    }
    const double error = cluster_mean(below, size).error;
    return error * error * n / (probability * (1.0 - probability));
}

/// Design effect of the fleets, between 1 and the cluster size, which is assumed where it cannot
/// be measured: with fewer than two clusters' worth of draws on one side of x (if x is the
/// largest draw the variance is zero).
double fleet_effect(std::span<const double> draws, std::size_t size, double x, double probability)
{
    const auto worst = static_cast<double>(size);
    return size == 1 ? 1.0
                     : std::clamp(measured_effect(draws, size, x, probability, 2.0 * worst).value_or(worst),
                                  1.0, worst);
}

/// Design effect of the blocks, or of the fleets where the blocks are too few: a draw
/// beyond x for each randomisation.
double block_effect(std::span<const double> draws, const Clusters& clusters, double x, double probability,
                    double level)
{
    const double fleets = fleet_effect(draws, clusters.size, x, probability);
    if (!blocks_suffice(draws.size(), clusters)) {
        return fleets;
    }
    const auto effect =
        measured_effect(draws, clusters.block, x, probability, static_cast<double>(least_blocks));
    if (!effect) {
        return fleets;
    }
    const std::size_t blocks = draws.size() / clusters.block;
    const double freedom = static_cast<double>(blocks) - 1.0;
    const double caution = two_sided_student_score(freedom, level) / two_sided_score(level);
    // No strata make a draw worth more than four: what is measured below that is luck.
    return std::max(0.25, *effect) * caution * caution;
}

/// Limits of the quantile among sorted draws worth n / deff independent ones: the order statistics X(l), X(u)
/// with P(count <= quantile is below l) and P(count >= u) at most (1 - level) / 2 each.
struct Limits {
    double low;
    double high;
};

Limits order_statistic_limits(const std::vector<double>& sorted, double deff, double probability,
                              double level)
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

/// The smallest value that at least a share `probability` of the sorted values does not exceed.
double quantile_of_sorted(const std::vector<double>& sorted, double probability)
{
    const auto rank = static_cast<std::size_t>(std::ceil(probability * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

/// Distance of a limit that is missed with probability `tail` from the mean.
double student_margin(const ClusterMean& m, double tail, double skewness)
{
    if (m.clusters < 2.0 || m.error == 0.0) {
        return m.error;
    }
    const double score = score_for_skewness(tail, skewness, m.clusters);
    return std::isinf(score) ? infinite
                             : m.error * student_quantile(m.clusters - 1.0, normal_probability(-score), true);
}

/// F(t) of C T by draw of T: probability that the factor keeps T C at or below t.
class ScaledDistribution {
public:
    ScaledDistribution(std::span<const double> draws, std::span<const DistributionNode> factor)
        : draws_(draws), sorted_(draws.begin(), draws.end()), factor_(factor), inverses_{0.0}
    {
        std::sort(sorted_.begin(), sorted_.end());
        for (const double draw : sorted_) {
            inverses_.push_back(inverses_.back() + 1.0 / draw);
        }
    }

    std::vector<double> shares(double t) const
    {
        std::vector<double> result;
        result.reserve(draws_.size());
        for (const double draw : draws_) {
            result.push_back(share(t / draw));
        }
        return result;
    }

    /// Smallest t with F(t) >= probability, to twelve digits; infinite beyond the possible.
    double quantile(double probability) const
    {
        if (!(probability > 0.0 && probability <= 1.0)) {
            return probability > 1.0 ? infinite : -infinite;
        }
        const Bracket range{sorted_.front() * factor_.front().value, sorted_.back() * factor_.back().value};
        const auto is_less = [&](double t) { return mean_share(t) < probability; };
        return bisect(range, {.relative_width = 1e-12}, is_less).high;
    }

private:
    /// Mean of share(t / T): between two nodes a sum over the draws of (t / T - a)
    /// / (b - a), from sums of 1 / T.
    double mean_share(double t) const
    {
        const auto draws_up_to = [this](double longest) {
            return static_cast<std::size_t>(std::upper_bound(sorted_.begin(), sorted_.end(), longest) -
                                            sorted_.begin());
        };
        double sum = 0.0;
        std::size_t partly = draws_up_to(t / factor_.front().value);
        for (std::size_t i = 1; i < factor_.size(); ++i) {
            const DistributionNode& a = factor_[i - 1];
            const DistributionNode& b = factor_[i];
            const std::size_t wholly = draws_up_to(t / b.value);
            auto covered = static_cast<double>(wholly);
            if (partly > wholly) {
                covered += (t * (inverses_[partly] - inverses_[wholly]) -
                            a.value * static_cast<double>(partly - wholly)) /
                           (b.value - a.value);
            }
            sum += (b.below - a.below) * covered;
            partly = wholly;
        }
        return sum / static_cast<double>(sorted_.size());
    }

    double share(double ratio) const
    {
        const auto above =
            std::upper_bound(factor_.begin(), factor_.end(), ratio,
                             [](double value, const DistributionNode& node) { return value < node.value; });
        if (above == factor_.begin() || above == factor_.end()) {
            return above == factor_.begin() ? 0.0 : 1.0;
        }
        const DistributionNode& below = *(above - 1);
        return below.below +
               (above->below - below.below) * (ratio - below.value) / (above->value - below.value);
    }

    std::span<const double> draws_;
    std::vector<double> sorted_;
    std::span<const DistributionNode> factor_;
    std::vector<double> inverses_;  // [i]: sum of 1 / T over the i shortest
};

}  // namespace

Estimate quantile_estimate(std::span<const double> draws, const Clusters& clusters, double probability,
                           const Confidence& confidence)
{
    std::vector<double> sorted(draws.begin(), draws.end());
    std::sort(sorted.begin(), sorted.end());
    const double value = quantile_of_sorted(sorted, probability);
    const double near = block_effect(draws, clusters, value, probability, confidence.reported);
    const double far = std::max(near, fleet_effect(draws, clusters.size, value, probability));
    const Limits reported = order_statistic_limits(sorted, near, probability, confidence.reported);
    const Limits simultaneous = order_statistic_limits(sorted, far, probability, confidence.simultaneous);
    return {value, reported.low, reported.high, simultaneous.low, simultaneous.high};
}

Estimate mean_estimate(std::span<const double> draws, const Clusters& clusters, const Confidence& confidence)
{
    const ClusterMean fleets = cluster_mean(draws, clusters.size);
    const double value = fleets.mean;
    const double near = student_margin(closest_mean(draws, clusters), 0.5 * (1.0 - confidence.reported), 0.0);
    const double far = std::max(near, student_margin(fleets, 0.5 * (1.0 - confidence.simultaneous),
                                                     std::max(confidence.skewness, fleets.skewness)));
    return {value, value - near, value + near, value - far, value + far};
}

double score_for_skewness(double tail, double skewness, double count)
{
    const double low = normal_quantile(tail, true);
    const double rate = skewness / (3.0 * std::sqrt(count));
    if (rate <= 0.0 || low <= 0.0) {
        return low;
    }
    constexpr double most = 37.0;  // beyond, the normal probability is zero
    const auto missed = [&](double x) { return normal_probability(-x) * std::exp(rate * cube(x)); };
    // Where `missed` is least, nearly: x^2 / 2 - rate x^3 rises up to there.
    const double high = std::min(most, 1.0 / (3.0 * rate));
    if (low >= high || missed(high) > tail) {
        return infinite;
    }
    const auto is_less = [&](double x) { return missed(x) > tail; };
    return bisect({low, high}, {.relative_width = 1e-9}, is_less).high;
}

double mean_error(std::span<const double> draws, const Clusters& clusters)
{
    return closest_mean(draws, clusters).error;
}

Estimate scaled_quantile_estimate(std::span<const double> draws, const Clusters& clusters,
                                  std::span<const DistributionNode> factor, double probability,
                                  const Confidence& confidence)
{
    const ScaledDistribution distribution(draws, factor);
    const double value = distribution.quantile(probability);
    const std::vector<double> shares = distribution.shares(value);
    const ClusterMean fleets = cluster_mean(shares, clusters.size);
    const ClusterMean near = closest_mean(shares, clusters);
    const auto limits = [&](const ClusterMean& m, double level) {
        if (m.clusters < static_cast<double>(least_blocks)) {
            return Limits{-infinite, infinite};
        }
        const double error = m.error * two_sided_student_score(m.clusters - 1.0, level);
        return Limits{distribution.quantile(probability - error), distribution.quantile(probability + error)};
    };
    const Limits reported = limits(near, confidence.reported);
    const Limits simultaneous = limits(fleets.error > near.error ? fleets : near, confidence.simultaneous);
    return {value, reported.low, reported.high, std::min(simultaneous.low, reported.low),
            std::max(simultaneous.high, reported.high)};
}

std::vector<double> quantiles(std::span<const double> draws, std::span<const DistributionNode> factor,
                              std::span<const double> probabilities)
{
    std::vector<double> result;
    if (!factor.empty()) {
        const ScaledDistribution distribution(draws, factor);
        std::transform(probabilities.begin(), probabilities.end(), std::back_inserter(result),
                       [&distribution](double p) { return distribution.quantile(p); });
        return result;
    }
    std::vector<double> sorted(draws.begin(), draws.end());
    std::sort(sorted.begin(), sorted.end());
    std::transform(probabilities.begin(), probabilities.end(), std::back_inserter(result),
                   [&sorted](double p) { return quantile_of_sorted(sorted, p); });
    return result;
}

}  // namespace prismopt
