/// The sampler's distributions: against brute force, against a simulation that shares no code with it, and
/// what strata and common random numbers do to estimates. Larger cases: tests/model/long.

#include "tests/support/draw_statistics.hpp"
#include "tests/support/example_problem.hpp"
#include "tests/support/plain_pipeline.hpp"
#include "tests/support/replica_truth.hpp"

#include "model/base/parallel.hpp"
#include "model/step/sample/sampler.hpp"

#include <gtest/gtest.h>

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace prismopt {
namespace {

/// 0.25 %: what a p99 may be off.
constexpr double allowed = 0.0025;

void record(const std::string& name, const Bias& bias)
{
    testing::Test::RecordProperty(name + ", bias and error in %", std::to_string(100.0 * bias.value) +
                                                                      " +- " +
                                                                      std::to_string(100.0 * bias.error));
}

TEST(SamplerTruth, ReplicasMatchBruteForceOverFleets)
{
    for (const double spatial : {0.0, 0.02}) {
        const ReplicaTruth replicas(256, spatial);
        const Bias bias =
            bias_over_fleets(sorted(replicas.ranked({0, 16384, 1})), sorted(replicas.brute({0, 4096, 1})));
        EXPECT_TRUE(bias.within(allowed)) << bias.value << " +- " << bias.error << ", spatial " << spatial;
        EXPECT_LT(bias.error, 0.4 * allowed);  // or the comparison says nothing
        record(spatial > 0.0 ? "spatial" : "equal", bias);
    }
}

TEST(SamplerTruth, ReplicasMatchBruteForceInAGivenFleet)
{
    const ReplicaTruth replicas(256, 0.02);
    constexpr int steps = 128;
    const Bias bias = bias_given_fleet(replicas.ranked({0, block_fleets, steps}),
                                       replicas.brute({0, block_fleets, steps}), steps)
                          .mean;
    EXPECT_TRUE(bias.within(allowed)) << bias.value << " +- " << bias.error;
    record("mean over fleets", bias);
}

/// The share of the reference's draws that the sampler's quantile does not exceed is the probability asked
/// for, but for the errors of both. A million draws: tests/model/long.
TEST(SamplerTruth, PipelinesMatchAPlainSimulation)
{
    for (const PlainCase& c : plain_cases()) {
        const std::vector<double> plain = plain_pipeline_draws(4, 8, c.noise, 250'000);
        const std::vector<double> fast = sampled_pipeline(4, 8, c.noise, 1'024'000);
        for (const double p : {0.5, 0.99, 0.999}) {
            const double score = score_of_quantile(fast, plain, p);
            EXPECT_LT(std::abs(score), 3.29) << c.name << ", p = " << p;  // joint 99.9 % interval
            RecordProperty(std::string(c.name) + ", p = " + std::to_string(p) + ", joint errors",
                           std::to_string(score));
        }
    }
}

ParallelPlan plan_of(int tp, int pp, int dp, int microbatch)
{
    ParallelPlan plan;
    plan.tp = tp;
    plan.pp = pp;
    plan.dp = dp;
    plan.microbatch = microbatch;
    return plan;
}

/// p99 of 1024 draws, by seed.
std::vector<double> p99_by_seed(const ExecutionGraph& graph, const NoiseTables& noise)
{
    std::vector<double> result;
    for (std::uint64_t seed = 0; seed < 128; ++seed) {
        result.push_back(
            sorted_quantile(sorted(sample_steps(graph, noise, {0, 1024, 1}, {.seed = seed})), 0.99));
    }
    return result;
}

/// Variance of a difference with independent draws over that with the same draws.
double gain_of_common_draws(const std::vector<double>& a, const std::vector<double>& b)
{
    std::vector<double> paired;
    std::vector<double> unpaired;
    for (std::size_t i = 0; i < a.size(); ++i) {
        paired.push_back(a[i] - b[i]);
        unpaired.push_back(a[i] - b[(i + 1) % b.size()]);
    }
    return SampleMoments(unpaired).variance / SampleMoments(paired).variance;
}

/// Draws are keyed by what they are for, so that they survive a change of
/// schedule, width and microbatch size.
TEST(SamplerTruth, PlansShareTheirLuck)
{
    constexpr std::array widths{2, 4};
    const Problem problem = example_problem(lively_variability(), 32, widths);
    ParallelPlan all_forward_first = plan_of(2, 4, 1, 1);
    all_forward_first.schedule = Schedule::gpipe;
    const auto p99 = [&](const ParallelPlan& plan) {
        return p99_by_seed(graph_of(problem, plan), problem.noise);
    };
    const auto base = p99(plan_of(2, 4, 1, 1));
    const double schedule = gain_of_common_draws(base, p99(all_forward_first));
    const double width = gain_of_common_draws(base, p99(plan_of(4, 4, 1, 1)));
    const double microbatch = gain_of_common_draws(base, p99(plan_of(2, 4, 1, 2)));
    EXPECT_GT(schedule, 10.0);
    // Two standard errors of a ratio of two variances of 128 values each: a factor of exp(2 * 0.18).
    EXPECT_GT(width, 1.43);
    EXPECT_GT(microbatch, 1.43);
    RecordProperty("1f1b and gpipe", std::to_string(schedule));
    RecordProperty("tp 2 and 4", std::to_string(width));
    RecordProperty("microbatch 1 and 2", std::to_string(microbatch));
}

/// Many draws, and so few that threads share out the plans of a lot.
TEST(SamplerTruth, AnyNumberOfThreadsDrawsTheSameBits)
{
    constexpr std::array widths{1, 2, 4};
    const Problem problem = example_problem(lively_variability(), 64, widths);
    std::vector<ExecutionGraph> graphs;
    for (const int tp : widths) {
        for (const int microbatch : {1, 2}) {
            // Each microbatch size is a lot.
            graphs.push_back(graph_of(problem, plan_of(tp, 4, 16, microbatch)));
        }
    }
    std::vector<const ExecutionGraph*> all;
    for (const ExecutionGraph& graph : graphs) {
        all.push_back(&graph);
    }
    const int threads_before = parallel_threads();
    for (const DrawRange& range : {DrawRange{0, 64, 1}, {64, 256, 2}}) {
        omp_set_num_threads(1);
        const auto alone = sample_steps(all, problem.noise, range, {.seed = 4});
        for (const int threads : {2, 3, 4}) {
            omp_set_num_threads(threads);
            EXPECT_EQ(sample_steps(all, problem.noise, range, {.seed = 4}), alone) << threads << " threads";
        }
    }
    omp_set_num_threads(threads_before);
}

/// How many draws of each block lie above the plain p99: the same on average with strata,
/// with and without ranked replicas.
TEST(SamplerTruth, StrataLeaveTheTailWhereItIs)
{
    constexpr int blocks = 2048;
    const PipelineNoise distributions{.spatial = 0.02};
    const NoiseTables noise = pipeline_tables(distributions);
    for (const int replicas : {1, 64}) {
        const ExecutionGraph graph =
            pipeline_graph({Schedule::one_f_one_b, 4, 8, 1}, replicas, distributions);
        const auto draws = [&](Sampling sampling) {
            return sample_steps(graph, noise, {0, blocks * block_fleets, 1},
                                {.seed = 8, .sampling = sampling});
        };
        const auto plain = draws(Sampling::plain);
        const auto stratified = draws(Sampling::stratified);
        for (const double p : {0.5, 0.99}) {
            const double threshold = sorted_quantile(sorted(plain), p);
            const auto above = [&](const std::vector<double>& all) {
                std::vector<double> counts;
                for (auto block = all.begin(); block != all.end(); block += block_fleets) {
                    counts.push_back(static_cast<double>(
                        std::count_if(block, block + block_fleets, [&](double x) { return x > threshold; })));
                }
                return SampleMoments(counts);
            };
            const SampleMoments without = above(plain);
            const SampleMoments with = above(stratified);
            // Four standard errors of the difference.
            EXPECT_NEAR(with.mean, without.mean, 4.0 * std::hypot(with.error, without.error))
                << replicas << ", p = " << p;
            RecordProperty(
                std::to_string(replicas) + " replicas, p = " + std::to_string(p),
                std::to_string((with.mean - without.mean) / std::hypot(with.error, without.error)) +
                    " errors, variance ratio " + std::to_string(without.variance / with.variance));
        }
    }
}

}  // namespace
}  // namespace prismopt
