/// The sampler against brute force: every replica op by op.

#include "tests/support/distribution_cases.hpp"
#include "tests/support/draw_statistics.hpp"
#include "tests/support/example_problem.hpp"
#include "tests/support/reference_sampler.hpp"

#include "model/distribution/chain_distribution.hpp"
#include "model/step/sample/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace prismopt {
namespace {

constexpr std::array widths{1, 2, 4, 8, 16};

/// One plan for each way in which replicas, stages, chunks and nodes can be coupled.
std::vector<ParallelPlan> plans_of_every_coupling()
{
    std::vector<ParallelPlan> plans;
    plans.push_back(plan_of(1, 1, 1));   // nothing is coupled
    plans.push_back(plan_of(2, 4, 1));   // one replica, two groups a node
    plans.push_back(plan_of(8, 4, 2));   // replicas, per stage with its collectives, overlapped
    plans.push_back(plan_of(16, 2, 2));  // groups over two nodes
    plans.push_back(plan_of(2, 4, 4));   // once per step: everything after the last backward
    plans.back().dp_overlap = DataParallelOverlap::off;
    plans.push_back(plan_of(4, 4, 4));  // without sharding, other placement
    plans.back().sharding = Sharding::none;
    plans.back().order = PlacementOrder::tp_dp_pp;
    plans.push_back(plan_of(2, 4, 2));  // interleaved chunks, uneven
    plans.back().schedule = Schedule::interleaved;
    plans.back().chunks = 3;
    plans.back().split = LayerSplit::slots;
    plans.push_back(plan_of(4, 2, 2));
    plans.back().schedule = Schedule::gpipe;
    for (const auto overlap :
         {DataParallelOverlap::off, DataParallelOverlap::on}) {  // gradients within one replica
        plans.push_back(plan_of(2, 4, 1));
        plans.back().cp = 2;
        plans.back().dp_overlap = overlap;
    }
    return plans;
}

/// The exponents of the microbatch factor differ by pass and along the pipeline.
Variability with_exponents()
{
    Variability variability = lively_variability();
    variability.microbatch_exponent = {{1.3, 1.0, 0.6}, {0.8, 1.2}};
    return variability;
}

class SamplerOf : public testing::TestWithParam<Variability> {};
INSTANTIATE_TEST_SUITE_P(Exponents, SamplerOf, testing::Values(lively_variability(), with_exponents()),
                         [](const auto& tested) {
                             return tested.index == 0 ? std::string("None") : std::string("Some");
                         });

TEST_P(SamplerOf, AgreesWithTheReferenceDrawByDraw)
{
    const Problem problem = example_problem(GetParam(), 16, widths);
    for (const ParallelPlan& plan : plans_of_every_coupling()) {
        const ExecutionGraph graph = graph_of(problem, plan);
        for (const Sampling sampling : {Sampling::plain, Sampling::stratified}) {
            const SamplerOptions options{7, Purpose::confirm, plan.dp, sampling};
            const auto draws = sample_steps(graph, problem.noise, {64, 64, 2}, options);
            for (const std::uint32_t fleet : {0U, 17U, 63U}) {
                for (const std::uint32_t step : {0U, 1U}) {
                    const double reference =
                        ReferenceStep(graph, problem.noise, options, 64 + fleet, step).seconds();
                    // Single precision: about 1e-7 an operation, and times only add and compare.
                    EXPECT_NEAR(draws[fleet * 2 + step], reference, 1e-5 * reference)
                        << plan.tp << " " << plan.pp << " " << plan.dp;
                }
            }
        }
    }
}

TEST(Sampler, DoesNotDependOnHowARangeIsCut)
{
    const Problem problem = example_problem(lively_variability(), 64, widths);
    const ExecutionGraph graph = graph_of(problem, plan_of(2, 4, 16));
    const SamplerOptions options{3, Purpose::search, 4};
    const auto whole = sample_steps(graph, problem.noise, {0, 256, 2}, options);
    std::vector<double> pieces;
    for (const DrawRange& range : {DrawRange{0, 64, 2}, DrawRange{64, 128, 2}, DrawRange{192, 64, 2}}) {
        const auto piece = sample_steps(graph, problem.noise, range, options);
        pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(whole, pieces);
}

TEST(Sampler, SplitRangesMakeUpTheWhole)
{
    for (const std::size_t graphs : {std::size_t{1}, std::size_t{3}, std::size_t{100'000}}) {
        int end = 64;
        for (const DrawRange& sub_range : split_range({64, 20'480, 3}, graphs)) {
            EXPECT_EQ(sub_range.first_fleet, end);
            EXPECT_GT(sub_range.fleets, 0);
            EXPECT_EQ(sub_range.fleets % block_fleets, 0);
            EXPECT_EQ(sub_range.steps, 3);
            end += sub_range.fleets;
        }
        EXPECT_EQ(end, 64 + 20'480);
    }
}

TEST(Sampler, StreamsAndSeedsDiffer)
{
    const Problem problem = example_problem(lively_variability(), 16, widths);
    const ExecutionGraph graph = graph_of(problem, plan_of(2, 4, 2));
    const auto draws = [&](std::uint64_t seed, Purpose purpose) {
        return sample_steps(graph, problem.noise, {0, 64, 1}, {seed, purpose, 2});
    };
    const auto first = draws(1, Purpose::search);
    EXPECT_EQ(first, draws(1, Purpose::search));
    EXPECT_NE(first, draws(2, Purpose::search));
    EXPECT_NE(first, draws(1, Purpose::confirm));
}

/// Replicas that are ranked by their critical paths and mostly not simulated, against brute force.
struct ReplicaCase {
    const char* name;
    Variability variability;
};

std::vector<ReplicaCase> replica_cases()
{
    Variability residual_only;  // replicas differ by chance alone
    Variability spatial;        // who is slow is fixed by the fleet
    Variability stages;         // who is slow changes with the step
    for (auto* v : {&residual_only, &spatial, &stages}) {
        set_residuals({0.05, 0.05, 0.05, 0.10, 0.30, 0.10}, *v);
    }
    spatial.gpu = {Normal{0.02}, {0.01, 0.10}, 20.0, "test"};
    stages.stage = {LogNormal{0.03}, {}, 20.0, "test"};
    Variability uneven = residual_only;  // uneven sequences: far beyond what a well-kept job shows
    uneven.stage = {LogNormal{0.05}, {}, 20.0, "test"};
    uneven.microbatch = {LogNormal{0.15}, {}, 20.0, "test"};
    return {{"uneven", uneven},
            {"residuals only", residual_only},
            {"spatial", spatial},
            {"stage by step", stages},
            {"all", lively_variability()}};
}

TEST(Sampler, ReplicasInDistributionMatchBruteForce)
{
    for (const ReplicaCase& c : replica_cases()) {
        const Problem problem = example_problem(c.variability, 128 * 8, widths);
        for (const DataParallelOverlap overlap : {DataParallelOverlap::on, DataParallelOverlap::off}) {
            ParallelPlan plan = plan_of(2, 4, 128);
            plan.schedule = Schedule::interleaved;  // with one chunk a stage nothing could overlap
            plan.chunks = 2;
            plan.dp_overlap = overlap;
            const ExecutionGraph graph = graph_of(problem, plan);
            const DrawRange range{0, 1024, 2};
            const auto brute =
                sorted(sample_steps(graph, problem.noise, range, {5, Purpose::search, plan.dp}));
            const auto fast = sorted(sample_steps(graph, problem.noise, range, {5, Purpose::search, 4}));
            // All but the ops' residuals are the same draws. 0.25 % is what a quantile may be off; beyond it,
            // three standard errors of the difference, in probability.
            for (const double p : {0.05, 0.50, 0.95, 0.99}) {
                const double error = 3.0 * std::sqrt(2.0 * p * (1.0 - p) / static_cast<double>(brute.size()));
                EXPECT_GT(sorted_quantile(fast, p), 0.9975 * sorted_quantile(brute, p - error))
                    << c.name << ", p = " << p;
                EXPECT_LT(sorted_quantile(fast, p), 1.0025 * sorted_quantile(brute, p + error))
                    << c.name << ", p = " << p;
            }
        }
    }
}

/// Plans of all kinds at once, with the same keys and with others: each as if it were alone.
TEST(Sampler, DrawsTheSameForAPlanWhateverIsSampledWithIt)
{
    const Problem problem = example_problem(lively_variability(), 64, widths);
    std::vector<ExecutionGraph> graphs;
    for (const ParallelPlan& plan : plans_of_every_coupling()) {
        graphs.push_back(graph_of(problem, plan));
    }
    for (const int dp : {1, 2}) {  // two copies of the model in one pipeline
        ParallelPlan plan = plan_of(2, 4, dp);
        plan.schedule = Schedule::dualpipe;
        plan.chunks = 2;
        plan.microbatch = dp == 1 ? 4 : 2;
        graphs.push_back(graph_of(problem, plan));
    }
    for (const int tp : {1, 2, 4, 8}) {
        for (const int dp : {1, 16}) {  // 16 microbatches with dp = 4 microbatches of one sequence each
            ParallelPlan plan = plan_of(tp, 4, dp);
            plan.microbatch = dp == 1 ? 4 : 1;
            graphs.push_back(graph_of(problem, plan));
        }
    }
    std::vector<const ExecutionGraph*> all;
    all.reserve(graphs.size());
    for (const ExecutionGraph& graph : graphs) {
        all.push_back(&graph);
    }
    const SamplerOptions options{9, Purpose::search, 3};
    const auto together = sample_steps(all, problem.noise, {0, 128, 2}, options);
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        EXPECT_EQ(together[i], sample_steps(graphs[i], problem.noise, {0, 128, 2}, options)) << i;
    }
}

/// Distributions with jumps and far modes, and tails up to the farthest cap: steps keep the
/// mean that they have without noise.
TEST(Sampler, StepsHaveTheirMeanWhateverTheDistribution)
{
    constexpr int fleets = 4096;
    const auto mean_of = [](const std::vector<double>& times) {
        return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
    };
    const auto steps_of = [](const Variability& variability) {
        const Problem problem = example_problem(variability, 32, widths);
        return sample_steps(graph_of(problem, plan_of(1, 1, 1)), problem.noise, {0, fleets, 1}, {.seed = 2});
    };
    const double truth = mean_of(steps_of({}));
    const auto expect_mean = [&](const Variability& variability, const std::string& name) {
        const std::vector<double> times = steps_of(variability);
        const double mean = mean_of(times);
        double squares = 0.0;
        for (const double t : times) {
            squares += (t - mean) * (t - mean);
        }
        const double deviation = std::sqrt(squares / fleets);
        // Standard errors; what a standard distribution's own mean may be off
        // (StandardDistributions.HaveMeanZeroAndDeviationOne); and single precision.
        EXPECT_NEAR(mean, truth, (4.5 / std::sqrt(fleets) + 5e-4) * deviation + 1e-6 * truth) << name;
    };
    for (const DistributionCase& row : distribution_cases()) {
        if (row.steps && row.distribution.cap <= farthest_cap_of_ops) {
            Variability variability;
            variability.operation = row.distribution;
            expect_mean(variability, row.name);
        }
    }
    for (const Family& family : {Family{LogNormal{2.0}}, Family{StudentT{1.0, 0.02}}}) {
        const Distribution distribution{family, {}, farthest_cap_of_ops, ""};
        Variability variability;
        variability.operation = distribution;
        expect_mean(variability, "far cap, operation");
        variability = {};
        variability.residual.fill(distribution);
        expect_mean(variability, "far cap, kernels");
    }
}

/// All of a plan's compute is one part of the pipeline, so its exponents are means of the lists: a step of M
/// microbatches is M f^0.5 + 2 M f^1.5 of them, with lognormal f.
TEST(Sampler, ExponentsAreThoseOfThePasses)
{
    constexpr int fleets = 16'384;
    constexpr double sigma = 0.2;
    Variability variability;
    variability.microbatch = {LogNormal{std::sqrt(std::expm1(sigma * sigma))}, {}, 20.0, "test"};
    const auto variance_of_steps = [&](const MicrobatchExponents& exponents) {
        variability.microbatch_exponent = exponents;
        const Problem problem = example_problem(variability, 32, widths);
        const std::vector<double> times =
            sample_steps(graph_of(problem, plan_of(1, 1, 1)), problem.noise, {0, fleets, 1}, {.seed = 2});
        const double mean = std::accumulate(times.begin(), times.end(), 0.0) / fleets;
        double squares = 0.0;
        for (const double time : times) {
            squares += (time - mean) * (time - mean);
        }
        return squares / fleets;
    };
    const double forward = variance_of_steps({{1.0}, {0.0}});
    const double backward = variance_of_steps({{0.0}, {1.0}});
    const double both = variance_of_steps({{0.4, 0.6}, {1.5}});
    // Lognormal factors to the powers a and b have covariance expm1(a b sigma^2).
    const auto covariance = [](double a, double b) { return std::expm1(a * b * sigma * sigma); };
    const double unit = covariance(1.0, 1.0);
    const double expected = forward * covariance(0.5, 0.5) / unit + backward * covariance(1.5, 1.5) / unit +
                            2.0 * std::sqrt(forward * backward) * covariance(0.5, 1.5) / unit;
    EXPECT_NEAR(both, expected, 4.0 * std::sqrt(3.0 * 2.0 / fleets) * expected);
}

TEST(MicrobatchExponents, OfChunksAreMeansOfTheirShare)
{
    EXPECT_EQ(exponent_of_chunk({}, 1, 4), 1.0);
    EXPECT_DOUBLE_EQ(exponent_of_chunk({0.8, 1.2}, 0, 1), 1.0);
    EXPECT_DOUBLE_EQ(exponent_of_chunk({0.8, 1.2}, 1, 4), 0.8);
    EXPECT_DOUBLE_EQ(exponent_of_chunk({0.8, 1.2}, 1, 3), 1.0);
    EXPECT_DOUBLE_EQ(exponent_of_chunk({0.5, 1.0, 1.5}, 1, 2), (0.5 * 1.0 + 1.5) / 1.5);
}

/// Each factor in turn is all that varies. A stratified estimate has the same expectation as
/// a plain one and less variance.
TEST(Sampler, StratifiedDrawsAreUnbiasedAndLessNoisy)
{
    std::vector<std::pair<const char*, Variability>> cases(5);
    const Distribution factor{LogNormal{0.05}, {}, 20.0, "test"};
    cases[0].first = "site";
    cases[0].second.site = factor;
    cases[1].first = "common compute";
    cases[1].second.common_compute = factor;
    cases[2].first = "common communication";
    cases[2].second.common_communication = {LogNormal{0.5}, {}, 20.0, "test"};
    cases[3].first = "stage";
    cases[3].second.stage = factor;
    cases[4].first = "microbatch";
    cases[4].second.microbatch = factor;
    cases.emplace_back("tier", Variability{});
    constexpr int repeats = 256;
    for (auto& [name, variability] : cases) {
        Problem problem = example_problem(variability, 16, widths);
        if (name == std::string("tier")) {
            variability.tier.assign(problem.cluster.tiers.size(), {LogNormal{0.5}, {}, 20.0, "test"});
            problem.noise = build_noise_tables(variability, widths);
        }
        const ExecutionGraph graph = graph_of(problem, plan_of(2, 4, 1));
        const auto blocks = [&](Sampling sampling) {
            return sample_steps(graph, problem.noise, {0, repeats * block_fleets, 1},
                                {4, Purpose::search, 2, sampling});
        };
        const auto plain = blocks(Sampling::plain);
        const auto stratified = blocks(Sampling::stratified);
        // Of each block: its mean, and how many lie above the p90.
        const double threshold = sorted_quantile(sorted(plain), 0.90);
        std::array<std::array<double, 2>, 2> mean{};
        std::array<std::array<double, 2>, 2> variance{};
        for (std::size_t s = 0; s < 2; ++s) {
            const auto& draws = s == 0 ? plain : stratified;
            std::array<std::vector<double>, 2> values;
            for (int b = 0; b < repeats; ++b) {
                const auto first = draws.begin() + static_cast<std::ptrdiff_t>(b) * block_fleets;
                values[0].push_back(std::accumulate(first, first + block_fleets, 0.0) / block_fleets);
                values[1].push_back(static_cast<double>(std::count_if(
                    first, first + block_fleets, [threshold](double x) { return x > threshold; })));
            }
            for (std::size_t v = 0; v < 2; ++v) {
                mean[s][v] = std::accumulate(values[v].begin(), values[v].end(), 0.0) / repeats;
                for (const double x : values[v]) {
                    variance[s][v] += (x - mean[s][v]) * (x - mean[s][v]) / (repeats - 1);
                }
            }
        }
        for (std::size_t v = 0; v < 2; ++v) {
            // Four standard errors of the difference. The variances of 256 blocks have an error of 9 % each.
            EXPECT_NEAR(mean[1][v], mean[0][v], 4.0 * std::sqrt((variance[0][v] + variance[1][v]) / repeats))
                << name;
            EXPECT_LT(variance[1][v], 0.8 * variance[0][v]) << name;
            RecordProperty(std::string(name) + (v == 0 ? " mean" : " p90") + ", variance ratio",
                           std::to_string(variance[0][v] / variance[1][v]));
        }
    }
}

}  // namespace
}  // namespace prismopt
