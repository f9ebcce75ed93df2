#include "model/distribution/variability.hpp"

#include "model/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace prismopt {

namespace {

std::vector<const Distribution*> all_distributions(const Variability& v)
{
    std::vector<const Distribution*> distributions{
        &v.gpu,   &v.node,       &v.site,      &v.common_step,     &v.common_compute, &v.common_communication,
        &v.stage, &v.microbatch, &v.operation, &v.expert_imbalance};
    for (const std::optional<Distribution>& distribution : v.residual) {
        if (distribution) {
            distributions.push_back(&*distribution);
        }
    }
    for (const Distribution& distribution : v.tier) {
        distributions.push_back(&distribution);
    }
    return distributions;
}

/// Least and largest exponent; none if all are one.
std::vector<double> extremes_of(const MicrobatchExponents& exponents)
{
    std::vector<double> all = exponents.forward;
    all.insert(all.end(), exponents.backward.begin(), exponents.backward.end());
    if (all.empty()) {
        return {};
    }
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    return {*least, *most};
}

/// Uniform in (0, 1).
double uniform(std::uint32_t word) { return (static_cast<double>(word) + 0.5) / 4294967296.0; }

}  // namespace

double exponent_of_chunk(const std::vector<double>& exponents, int chunk, int chunks)
{
    if (exponents.empty()) {
        return 1.0;
    }
    const double width = static_cast<double>(exponents.size()) / chunks;
    const double begin = width * chunk;
    const double end = width * (chunk + 1);
    double sum = 0.0;
    for (std::size_t i = 0; i < exponents.size(); ++i) {
        const auto place = static_cast<double>(i);
        sum += exponents[i] * std::max(0.0, std::min(end, place + 1.0) - std::max(begin, place));
    }
    return sum / width;
}

Quantile power_of(const Distribution& distribution, double exponent)
{
    const DistributionQuantile quantile(distribution);
    if (exponent == 1.0 || quantile.constant()) {
        return [quantile](double p, bool upper) { return quantile(p, upper); };
    }
    const Quantile power = [quantile, exponent](double p, bool upper) {
        return std::pow(quantile(p, upper), exponent);
    };
    const double mean = moments(power).mean;
    return [power, mean](double p, bool upper) { return power(p, upper) / mean; };
}

const Distribution& residual_distribution(const Variability& variability, KernelClass kernel)
{
    const std::optional<Distribution>& own = variability.residual[static_cast<std::size_t>(kernel)];
    if (own) {
        return *own;
    }
    const KernelClass outer = inherits_from(row_of(kernel));
    static const Distribution constant;
    return outer == kernel ? constant : residual_distribution(variability, outer);
}

bool quantiles_reach_means(const Variability& variability, double probability)
{
    constexpr double rounding = 1e-9;
    const std::vector<const Distribution*> distributions = all_distributions(variability);
    const std::vector<double> exponents = extremes_of(variability.microbatch_exponent);
    return std::all_of(distributions.begin(), distributions.end(),
                       [probability](const Distribution* distribution) {
                           const DistributionQuantile quantile(*distribution);
                           return quantile.constant() || quantile(1.0 - probability, true) >= 1.0 - rounding;
                       }) &&
           std::all_of(exponents.begin(), exponents.end(), [&](double exponent) {
               return power_of(variability.microbatch, exponent)(1.0 - probability, true) >= 1.0 - rounding;
           });
}

double largest_skewness(const Variability& variability)
{
    double largest = 0.0;
    for (const Distribution* distribution : all_distributions(variability)) {
        const DistributionQuantile quantile(*distribution);
        if (!quantile.constant()) {
            const Moments moments = quantile.moments();
            largest = std::max(largest, moments.third / (moments.variance * std::sqrt(moments.variance)));
        }
    }
    for (const double exponent : extremes_of(variability.microbatch_exponent)) {
        const Moments of_power = moments(power_of(variability.microbatch, exponent));
        if (of_power.variance > 0.0) {
            largest = std::max(largest, of_power.skewness());
        }
    }
    return largest;
}

std::vector<double> drawn_node_factors(const Variability& variability, int nodes, int gpus_per_node,
                                       std::uint64_t seed)
{
    constexpr std::uint32_t fleet = 0;
    constexpr std::uint32_t whom = step_replica(0, shared_by_replicas);
    const DistributionQuantile gpu(variability.gpu);
    const DistributionQuantile node(variability.node);
    const auto draw = [&](const DistributionQuantile& distribution, std::uint32_t thing, Stream stream) {
        const double u =
            uniform(philox(seed, {fleet, whom, thing / 4, use(stream, Purpose::search)})[thing % 4]);
        return u < 0.5 ? distribution(u, false) : distribution(1.0 - u, true);
    };
    std::vector<double> factors;
    for (int n = 0; n < nodes; ++n) {
        double slowest = 0.0;
        for (int g = 0; g < gpus_per_node; ++g) {
            slowest =
                std::max(slowest, draw(gpu, static_cast<std::uint32_t>(n * gpus_per_node + g), Stream::gpu));
        }
        factors.push_back(slowest * draw(node, static_cast<std::uint32_t>(n), Stream::node));
    }
    return factors;
}

}  // namespace prismopt
