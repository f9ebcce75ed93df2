#pragma once

/// Ranked replicas against all of them simulated op by op, p = 8 and m = 32 on the
/// distributions of one study: compute 5 %, stages 3 % a step, transfers 30 %, and 2 % between
/// stages for good where factors are spatial.

#include "tests/support/draw_statistics.hpp"
#include "tests/support/pipeline_case.hpp"

#include "model/base/estimate.hpp"
#include "model/step/sample/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace prismopt {

class ReplicaTruth {
public:
    ReplicaTruth(int replicas, double spatial)
        : noise_(pipeline_tables({.spatial = spatial})),
          graph_(pipeline_graph({Schedule::one_f_one_b, 8, 32, 1}, replicas, {.spatial = spatial}))
    {
    }

    std::vector<double> brute(const DrawRange& range) const
    {
        return sample_steps(graph_, noise_, range,
                            {.seed = 1000, .replicas_simulated = graph_.placement.replicas});
    }
    std::vector<double> ranked(const DrawRange& range, std::uint64_t seed = 1000) const
    {
        return sample_steps(graph_, noise_, range, {.seed = seed});
    }

    /// Of 100 seeds, those whose 95 % interval of a p99 from so many fleets covers the truth.
    int covering_seeds(double truth, int fleets) const
    {
        int covering = 0;
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            const Estimate e = quantile_estimate(ranked({0, fleets, 1}, seed), {1, block_fleets}, 0.99, {});
            covering += e.low <= truth && truth <= e.high ? 1 : 0;
        }
        return covering;
    }

private:
    NoiseTables noise_;
    ExecutionGraph graph_;
};

/// Relative: what the ranked p99 is above the truth, and the standard error of that truth.
struct Bias {
    double value = 0.0;
    double error = 0.0;

    bool within(double most) const { return std::abs(value) <= most + 3.0 * error; }
};

/// p99 over fleets, a step each; sorted draws.
inline Bias bias_over_fleets(const std::vector<double>& ranked, const std::vector<double>& brute)
{
    const double truth = sorted_quantile(brute, 0.99);
    return {sorted_quantile(ranked, 0.99) / truth - 1.0, quantile_error(brute, 0.99) / truth};
}

/// The p99 of given fleets, so many steps each: mean over the fleets, and by fleet what is
/// furthest off in its standard errors.
struct BiasByFleet {
    Bias mean;
    double furthest = 0.0;
};

inline BiasByFleet bias_given_fleet(const std::vector<double>& ranked, const std::vector<double>& brute,
                                    int steps)
{
    BiasByFleet result;
    std::vector<double> biases;
    for (std::size_t at = 0; at < brute.size(); at += static_cast<std::size_t>(steps)) {
        const auto fleet = [at, steps](const std::vector<double>& draws) {
            const auto first = draws.begin() + static_cast<std::ptrdiff_t>(at);
            return sorted(std::vector<double>(first, first + steps));
        };
        const auto truth = fleet(brute);
        const Bias bias = bias_over_fleets(fleet(ranked), truth);
        biases.push_back(bias.value);
        // Both have the same number of steps: the error of the difference is larger by sqrt(2).
        const double beyond = std::max(0.0, std::abs(bias.value) - 0.0025) / (bias.error * std::sqrt(2.0));
        result.furthest = std::max(result.furthest, beyond);
    }
    const SampleMoments moments(biases);
    result.mean = {moments.mean, moments.error};
    return result;
}

}  // namespace prismopt
