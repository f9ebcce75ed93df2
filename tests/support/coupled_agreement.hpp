#pragma once

/// The sampler on a graph against brute force on the job that it stands for.

#include "tests/support/brute_force_job.hpp"
#include "tests/support/draw_statistics.hpp"

#include "model/step/sample/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace prismopt {

/// Quantiles of the sampler below brute force by at most `under` and above it by at most `over`; beyond that
/// three standard errors of both, in probability.
inline void expect_agreement(const BruteForceJob& job, const ExecutionGraph& graph, const NoiseTables& noise,
                             int draws, int replicas_simulated, double over = 0.0025, double under = 0.0025)
{
    BruteForce brute(job, 17);
    std::vector<double> steps(static_cast<std::size_t>(draws));
    for (double& step_s : steps) {
        step_s = brute.step_s();
    }
    const auto truth = sorted(steps);
    const auto fast =
        sorted(sample_steps(graph, noise, {0, 16384, 1}, {5, Purpose::search, replicas_simulated}));
    for (const double p : {0.50, 0.95, 0.99}) {
        const double error =
            3.0 * std::sqrt(p * (1.0 - p) * (1.0 / draws + 1.0 / static_cast<double>(fast.size())));
        const double found = sorted_quantile(fast, p);
        EXPECT_GT(found, (1.0 - under) * sorted_quantile(truth, p - error)) << "p = " << p;
        EXPECT_LT(found, (1.0 + over) * sorted_quantile(truth, std::min(p + error, 1.0))) << "p = " << p;
        const std::string percent = std::to_string(std::lround(100.0 * p));
        ::testing::Test::RecordProperty("p" + percent + " off, per cent",
                                        std::to_string(100.0 * (found / sorted_quantile(truth, p) - 1.0)));
    }
}

}  // namespace prismopt
