#include "model/calibration/gpus/slow_gpus.hpp"

#include "model/base/median.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/complement.hpp>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

struct Candidate {
    SometimesSlow found;
    double probability = 1.0;
};

/// Of one GPU, by what the others do.
Candidate candidate_of(std::size_t gpu, const std::vector<std::vector<double>>& logs)
{
    constexpr double usual = 0.99;
    const double least = std::log(1.05);
    std::vector<double> others;
    for (std::size_t g = 0; g < logs.size(); ++g) {
        if (g != gpu) {
            others.insert(others.end(), logs[g].begin(), logs[g].end());
        }
    }
    std::sort(others.begin(), others.end());
    const double threshold = std::max(least, quantile_of(others, usual));
    const auto above = others.end() - std::upper_bound(others.begin(), others.end(), threshold);
    const double by_chance = (static_cast<double>(above) + 1.0) / (static_cast<double>(others.size()) + 1.0);
    std::vector<double> slow;
    std::vector<double> rest;
    for (const double log : logs[gpu]) {
        (log > threshold ? slow : rest).push_back(log);
    }
    if (slow.empty() || rest.empty()) {
        return {{gpu, 0.0, 0.0}, 1.0};
    }
    const auto n = static_cast<double>(logs[gpu].size());
    const boost::math::binomial distribution(n, by_chance);
    return {{gpu, static_cast<double>(slow.size()) / n, std::expm1(mean_of(slow) - mean_of(rest))},
            boost::math::cdf(boost::math::complement(distribution, static_cast<double>(slow.size()) - 1.0))};
}

}  // namespace

SlowShare slow_share(const std::string& key, std::size_t slow, std::size_t all, double excess)
{
    constexpr double tail = 0.025;
    const auto hits = static_cast<double>(slow);
    const auto misses = static_cast<double>(all - slow);
    const boost::math::beta_distribution<> posterior(hits + 0.5, misses + 0.5);
    return {.key = key,
            .slow = slow,
            .all = all,
            .low = slow == 0 ? 0.0 : boost::math::quantile(posterior, tail),
            .high = slow == all ? 1.0 : boost::math::quantile(boost::math::complement(posterior, tail)),
            .excess = excess};
}

DistributionFit distribution_with_slow(const std::vector<double>& usual, const std::vector<double>& slow,
                                       const std::string& source)
{
    const std::size_t all = usual.size() + slow.size();
    constexpr double no_spread = 1e-3;  // moves no quantile by half a per cent
    DistributionFit fit = std::sqrt(variance_of(usual)) > no_spread
                              ? fit_distribution(exponentials(usual), source)
                              : constant_distribution(source);
    fit.values = all;
    if (!slow.empty()) {
        fit.distribution.slow = {static_cast<double>(slow.size()) / static_cast<double>(all),
                                 std::expm1(mean_of(slow) - mean_of(usual))};
        fit.distribution.source += "; slow: " + std::to_string(slow.size()) + " of " + std::to_string(all);
    }
    return fit;
}

std::vector<SometimesSlow> sometimes_slow(const std::vector<std::vector<double>>& logs)
{
    constexpr std::size_t least_gpus = 4;
    constexpr std::size_t least_steps = 20;
    constexpr double level = 0.01;
    if (logs.size() < least_gpus || logs.front().size() < least_steps) {
        return {};
    }
    // over the median GPU of the step, and the median step of the GPU
    std::vector<std::vector<double>> own = logs;
    for (std::size_t s = 0; s < logs.front().size(); ++s) {
        std::vector<double> of_step;
        for (const std::vector<double>& gpu : logs) {
            of_step.push_back(gpu[s]);
        }
        const double median = median_of(of_step);
        for (std::vector<double>& gpu : own) {
            gpu[s] -= median;
        }
    }
    for (std::vector<double>& gpu : own) {
        const double median = median_of(gpu);
        std::transform(gpu.begin(), gpu.end(), gpu.begin(), [median](double x) { return x - median; });
    }
    std::vector<Candidate> candidates;
    for (std::size_t gpu = 0; gpu < own.size(); ++gpu) {
        candidates.push_back(candidate_of(gpu, own));
    }
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.probability < b.probability; });
    std::vector<SometimesSlow> found;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].probability * static_cast<double>(candidates.size() - i) > level) {
            break;
        }
        found.push_back(candidates[i].found);
    }
    return found;
}

}  // namespace prismopt
