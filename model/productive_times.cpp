#include "model/productive_times.hpp"

#include "model/run/drift.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace prismopt {

namespace {

double mean_of(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

ProductiveTimes productive_times(const std::vector<Phase>& phases, const PhaseDraws& draws, int steps)
{
    const std::size_t fleets = draws.front().size() / steps;
    std::vector<double> productive(fleets, 0.0);
    double within = 0.0;  // mean over fleets of the variance of a step; phases share their draws, so theirs do not simply add up
    std::vector<double> step(static_cast<std::size_t>(steps));
    for (std::size_t f = 0; f < fleets; ++f) {
        std::fill(step.begin(), step.end(), 0.0);
        for (std::size_t phase = 0; phase < phases.size(); ++phase) {
            for (std::size_t k = 0; k < step.size(); ++k) {
                step[k] += phases[phase].steps() * draws[phase][f * step.size() + k];
            }
        }
        productive[f] = mean_of(step);
        for (const double s : step) {
            within += (s - productive[f]) * (s - productive[f]) / std::max(1, steps - 1) / static_cast<double>(fleets);
        }
    }
    const double noise_variance = within / steps;
    ProductiveTimes result;
    result.mean = mean_of(productive);
    const auto count = static_cast<double>(std::max<std::size_t>(2, fleets));
    double total_variance = 0.0;
    for (const double p : productive) {
        total_variance += (p - result.mean) * (p - result.mean) / (count - 1.0);
    }
    const double mean_deviation = fleets > 1 ? mean_error(productive, {1, block_fleets}) : 0.0;
    const double noise_share = total_variance > 0.0 ? std::min(1.0, noise_variance / total_variance) : 0.0;
    const double shrink = std::sqrt(1.0 - noise_share);
    for (double& p : productive) {
        p = result.mean + shrink * (p - result.mean);
    }
    result.seconds = std::move(productive);
    result.mean_variance = noise_share * mean_deviation * mean_deviation;
    // Both variances have relative errors sqrt(2 / degrees of freedom); shrink^2 = 1 - noise / total.
    const double share_error = noise_share * std::sqrt(2.0 / count + 2.0 / (count * std::max(1, steps - 1)));
    const double smallest = std::sqrt(share_error);  // what cannot be told from zero
    result.shrink_deviation = std::min(1.0, 0.5 * share_error / std::pow(std::max({shrink, smallest, 1e-12}), 2));
    result.deviation = std::max(shrink, smallest) * std::sqrt(total_variance);
    return result;
}

std::vector<double> phase_shares(const std::vector<Phase>& phases, const PhaseDraws& draws)
{
    std::vector<double> shares;
    double sum = 0.0;
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        shares.push_back(phases[phase].steps() * mean_of(draws[phase]));
        sum += shares.back();
    }
    for (double& share : shares) {
        share /= sum;
    }
    return shares;
}

void drift(ProductiveTimes& productive, const Problem& problem, const SamplerOptions& options)
{
    const double cv = mean_drift_cv(problem.reliability.drift, productive.mean);
    for (std::size_t f = 0; cv > 0.0 && f < productive.seconds.size(); ++f) {
        productive.seconds[f] *=
            drift_factor(cv, problem.noise.scores, options.seed, options.purpose, static_cast<std::uint32_t>(f));
    }
}

}  // namespace prismopt
