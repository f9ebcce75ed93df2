/// A few seeds of what tests/model/long/calibration_coverage_test.cpp looks at with 200.

#include "tests/support/calibration_truth.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace prismopt {
namespace {

/// Of 24 intervals at 95 %, fewer than 19 hold the truth with probability 0.1 %.
TEST(CalibrationCoverage, OfSeveralSeeds)
{
    std::vector<Coverage> all = coverage_of_members(24);
    all.push_back(coverage_of_rates(failure_processes()[2], 24));
    for (const Coverage& coverage : all) {
        EXPECT_EQ(coverage.intervals, 24) << coverage.of;
        EXPECT_GE(coverage.held, 19) << coverage.of;
    }
}

TEST(Calibrate, FindsExponentsOfPassesAndStages)
{
    const SyntheticJob job = job_with_exponents();
    const Calibration found = calibrate(SyntheticTrace(job, 3).next());
    ASSERT_EQ(found.exponents.size(), 4U);
    for (std::size_t stage = 0; stage < 2;
         ++stage) {  // errors: 1 % of an operation over 10 % of a microbatch, of 960
        EXPECT_NEAR(found.microbatch_exponent.forward[stage], job.forward_exponent[stage], 0.02);
        EXPECT_NEAR(found.microbatch_exponent.backward[stage], job.backward_exponent[stage], 0.02);
    }
    EXPECT_NEAR(std::sqrt(found.components[4].variance), job.residual, 0.07 * job.residual);
    EXPECT_NEAR(std::sqrt(found.components[3].variance), job.microbatch, 0.12 * job.microbatch);
    SyntheticJob plain;
    plain.microbatch = 0.1;
    plain.steps = 60;
    EXPECT_TRUE(calibrate(SyntheticTrace(plain, 3).next()).exponents.empty());
}

/// With the slow GPU's passes, which are slower by different parts, residuals would be 2.6 %.
TEST(Calibrate, WhatOthersVaryByIsFoundWithoutTheSlowOne)
{
    SyntheticJob job;
    job.replicas = 6;
    job.steps = 60;
    job.slow_worker = 0.1;
    job.slow_backward = 0.2;
    const Calibration found = calibrate(SyntheticTrace(job, 9).next());
    ASSERT_EQ(found.slow.size(), 1U);
    EXPECT_EQ(found.slow_workers.size(), 1U);
    EXPECT_NEAR(std::sqrt(found.components[4].variance), job.residual, 0.07 * job.residual);
    ASSERT_EQ(found.slow_shares.size(), 1U);
    EXPECT_EQ(found.slow_shares[0].slow, 1U);
    EXPECT_EQ(found.slow_shares[0].all, 12U);
}

std::vector<GpuRun> runs_of(int nodes, const std::function<double(int node, int gpu)>& slowness)
{
    std::mt19937_64 generator(5);
    std::normal_distribution<double> normal;
    std::vector<GpuRun> runs;
    for (int node = 0; node < nodes; ++node) {
        for (int gpu = 0; gpu < 8; ++gpu) {
            const double effect = 0.01 * normal(generator) + slowness(node, gpu);
            runs.push_back({"", std::to_string(gpu), "n" + std::to_string(node), std::exp(effect)});
        }
    }
    return runs;
}

const CalibratedDistribution& distribution_of(const Calibration& calibration, const std::string& key)
{
    return *std::find_if(calibration.distributions.begin(), calibration.distributions.end(),
                         [&](const CalibratedDistribution& d) { return d.key == key; });
}

/// Of 200 nodes two are slow, and nodes do not differ else: eight slow GPUs on one node are the node's.
TEST(GpuRuns, SlowGpusOfOneNodeAreASlowNode)
{
    const Calibration found =
        calibrate_gpu_runs(runs_of(200, [](int node, int) { return node % 100 == 7 ? 0.1 : 0.0; }), "test");
    EXPECT_EQ(distribution_of(found, "node").fit.distribution.slow.probability, 0.01);
    EXPECT_NEAR(distribution_of(found, "node").fit.distribution.slow.excess, 0.105, 0.02);
    // One by chance.
    EXPECT_LE(distribution_of(found, "gpu").fit.distribution.slow.probability, 1.0 / 1600.0);
    const Calibration anywhere = calibrate_gpu_runs(
        runs_of(200, [](int node, int gpu) { return node % 25 == 7 && gpu == node % 8 ? 0.1 : 0.0; }),
        "test");
    EXPECT_EQ(distribution_of(anywhere, "gpu").fit.distribution.slow.probability, 8.0 / 1600.0);
    EXPECT_EQ(distribution_of(anywhere, "node").fit.family, "constant");
}

/// Three runs of a GPU that scatter by twice as much as GPUs differ: their medians' error is known
/// from all runs, and nobody is slow.
TEST(GpuRuns, FewRunsNameNobodyAndLeaveTheSpread)
{
    constexpr double gpu_spread = 0.01;
    constexpr int seeds = 8;
    int named = 0;
    Coverage spread{"spread of GPUs"};
    for (int seed = 0; seed < seeds; ++seed) {
        std::mt19937_64 generator(static_cast<unsigned>(seed));
        std::normal_distribution<double> normal;
        std::vector<GpuRun> runs;
        for (int node = 0; node < 84; ++node) {
            const double own = 0.01 * normal(generator);
            for (int gpu = 0; gpu < 4; ++gpu) {
                const double effect = own + gpu_spread * normal(generator);
                for (int repeat = 0; repeat < 3; ++repeat) {
                    runs.push_back({"", std::to_string(gpu), "n" + std::to_string(node),
                                    std::exp(effect + 2.0 * gpu_spread * normal(generator))});
                }
            }
        }
        const Calibration found = calibrate_gpu_runs(runs, "test");
        named +=
            static_cast<int>(std::count_if(found.slow.begin(), found.slow.end(), [](const SlowUnit& slow) {
                return slow.name.starts_with("GPU");
            }));
        spread.add(std::sqrt(found.components.front().low), gpu_spread,
                   std::sqrt(found.components.front().high));
    }
    EXPECT_LE(named, 1);                // of 2,688 GPUs, at 1 % for the 336 of each seed
    EXPECT_GE(spread.held, seeds - 2);  // 95 % each
}

TEST(GpuRuns, NameANumberedNodeWithMoreGpusThanAMachine)
{
    std::vector<GpuRun> runs;
    for (int gpu = 0; gpu < 17; ++gpu) {
        runs.push_back({"", std::to_string(gpu), "3", 1.0});
    }
    ASSERT_TRUE(crowded_node(runs));
    EXPECT_EQ(crowded_node(runs)->gpus, 17U);
    runs.pop_back();
    EXPECT_FALSE(crowded_node(runs));
    for (GpuRun& run : runs) {
        run.node = "rack3";
    }
    runs.push_back({"", "99", "rack3", 1.0});
    EXPECT_FALSE(crowded_node(runs));
}

/// Jeffreys' interval: of no slow ones among n from zero, of s among n that of the beta distribution.
TEST(SlowShare, HasItsInterval)
{
    const SlowShare share = slow_share("node", 4, 84, 0.09);
    EXPECT_NEAR(share.low, 0.0163, 0.0001);
    EXPECT_NEAR(share.high, 0.1092, 0.0001);
    EXPECT_EQ(slow_share("node", 0, 84, 0.0).low, 0.0);
}

/// Of many failures of a Poisson process the posterior of the rate is that of a gamma distribution, a little
/// wider, as the process might be another.
TEST(RatePosterior, OfAPoissonProcessIsNearlyChiSquared)
{
    std::mt19937_64 generator(1);
    std::exponential_distribution<double> gap;
    std::vector<double> starts;
    for (double t = gap(generator); t < 150.0; t += gap(generator)) {
        starts.push_back(t);
    }
    const RatePosterior rate = rate_posterior(starts, 0.0, 150.0);
    const boost::math::chi_squared exact(2.0 * static_cast<double>(starts.size()));
    EXPECT_NEAR(rate.low, quantile(exact, 0.025) / 300.0, 0.05);
    EXPECT_NEAR(rate.high, quantile(exact, 0.975) / 300.0, 0.05);
    EXPECT_NEAR(rate.cv, 1.0 / std::sqrt(static_cast<double>(starts.size())), 0.02);
}

/// Ten failures a switch takes with it are one event: they say of the rate what six events say, not sixty.
TEST(RatePosterior, BatchesCountOnce)
{
    std::vector<double> starts;
    for (int i = 0; i < 60; ++i) {
        starts.push_back(1.0 + i / 10 * 2.0);
    }
    const RatePosterior rate = rate_posterior(starts, 0.0, 12.0);
    EXPECT_LT(rate.low, 4.0);
    EXPECT_GT(rate.high, 6.5);
}

/// Spikes whose number is proportional to the members: the growth has their
/// exponent, and carries the distribution.
TEST(TailGrowth, IsThatOfIndependentMembers)
{
    std::mt19937_64 generator(7);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::exponential_distribution<double> exponential;
    const auto times_of = [&](const std::vector<int>& members) {
        std::vector<CollectiveRun> times;
        for (const int m : members) {
            for (int series = 0; series < 8; ++series) {
                for (int i = 0; i < 2000; ++i) {
                    const double spike = uniform(generator) < 0.001 * m ? 1.0 + exponential(generator) : 0.0;
                    times.push_back({"all_reduce " + std::to_string(m) + " " + std::to_string(series),
                                     1e-4 * (std::exp(0.01 * normal(generator)) + spike), 1, 1,
                                     static_cast<double>(m)});
                }
            }
        }
        return times;
    };
    const std::vector<CollectiveRun> few = times_of({2, 16});
    const TailGrowth growth = tail_growth(few);
    EXPECT_TRUE(growth.measured);
    EXPECT_NEAR(growth.exponent, 1.0, 0.35);
    EXPECT_LT(growth.low, 1.0);
    EXPECT_GT(growth.high, 1.0);
    const auto p99 = [](const Calibration& calibration) {
        const DistributionQuantile quantile(calibration.distributions.front().fit.distribution);
        return quantile(0.01, true) / quantile(0.5, false);
    };
    const double carried = p99(calibrate_collectives(few, "test", {}, 64.0));
    const double measured = p99(calibrate_collectives(times_of({64}), "test", {}));
    EXPECT_NEAR(carried, measured, 0.1 * measured);
    EXPECT_LT(p99(calibrate_collectives(few, "test", {})), 0.7 * measured);
}

}  // namespace
}  // namespace prismopt
