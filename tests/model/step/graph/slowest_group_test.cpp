#include "model/step/graph/slowest_group.hpp"

#include "model/step/sample/sampler.hpp"
#include "tests/support/example_problem.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/replayed_step.hpp"
#include "tests/support/residual_distributions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace prismopt {
namespace {

/// A path is never longer than the step, and at the slowness for which it was chosen it is
/// nearly as long for some stage.
TEST(SlowestGroup, PathsAreNeverLongerThanTheStep)
{
    std::mt19937_64 random(5);
    double sum = 0.0;
    double sum_of_own = 0.0;
    int graphs = 0;
    for (const ScheduleShape& shape : graph_shapes()) {
        for (const DataParallelOverlap overlap : {DataParallelOverlap::on, DataParallelOverlap::off}) {
            for (int repeat = 0; repeat < 5; ++repeat) {
                const ExecutionGraph graph = random_graph(shape, overlap, random);
                const std::vector<StagePath> paths = stage_paths(graph, program_paths(*graph.program).paths);
                const std::vector<StagePath> own = own_stage_paths(graph);
                ASSERT_EQ(paths.size(), static_cast<std::size_t>(graph.stages()));
                ASSERT_EQ(own.size(), paths.size());
                double longest = 0.0;
                double longest_own = 0.0;
                for (int stage = 0; stage < graph.stages(); ++stage) {
                    for (const double slowness : {0.5, 1.0, 1.1, 2.0}) {
                        const double step = replayed_step(graph, stage, slowness);
                        for (const std::vector<StagePath>* of : {&paths, &own}) {
                            const StagePath& path = (*of)[stage];
                            const double length = path.rest_s + slowness * graph.group_mean * path.compute_s;
                            EXPECT_LE(length, step * (1.0 + 1e-12))
                                << name(shape.schedule) << ", stage " << stage;
                            double& most = of == &own ? longest_own : longest;
                            if (slowness == 1.1) {
                                most = std::max(most, length / step);
                            }
                        }
                    }
                }
                // Chosen for other durations, without exchanges.
                EXPECT_GE(longest, 0.4) << name(shape.schedule);
                EXPECT_GE(longest_own, 0.4) << name(shape.schedule);  // without the gathering of parameters
                sum += longest;
                sum_of_own += longest_own;
                ++graphs;
            }
        }
    }
    EXPECT_GE(sum_of_own, 0.9 * graphs);
    EXPECT_GT(sum_of_own, sum);
}

ParallelPlan some_plan(Sharding sharding, int dp)
{
    ParallelPlan plan;
    plan.tp = 2;
    plan.pp = 4;
    plan.dp = dp;
    plan.sharding = sharding;
    return plan;
}

constexpr std::array group_widths{2};

/// A graph for bounds; throws std::bad_variant_access where the plan cannot work.
ExecutionGraph bounded_graph(const Problem& problem, const ParallelPlan& plan)
{
    PlanCompiler compiler({problem.workload, problem.phases.front(), problem.cluster, problem.noise});
    return std::get<CompiledPlan>(compiler.compile(plan, CompileFor::bounds)).graph;
}

/// Against all words of a coarse grid.
TEST(GroupFactor, BoundsProbabilitiesAndMeansOfItsTable)
{
    Variability variability;
    variability.gpu = {Normal{0.016}, {0.0128, 0.089}, 20.0, "test"};
    const NoiseTables noise = build_noise_tables(variability, group_widths);
    const QuantileTable table = noise.group_factor(group_widths[0], 0.01);
    const GroupFactor factor(table);
    ASSERT_FALSE(factor.constant());
    EXPECT_DOUBLE_EQ(factor.mean(), table.mean());
    constexpr int words = 1 << 20;
    constexpr double error = 1.0 / words;  // of the probability, by the grid
    for (const double p : {0.3, 0.5, 0.9, 0.99, 0.9999}) {
        const auto x = static_cast<double>(table(static_cast<std::uint32_t>(p * 4294967296.0)));
        double below = 0.0;
        double sum = 0.0;
        for (int i = 0; i < words; ++i) {
            const auto value = static_cast<double>(table((static_cast<std::uint32_t>(i) << 12) + 2048));
            below += value <= x ? 1.0 : 0.0;
            sum += value <= x ? value : 0.0;
        }
        EXPECT_GE(std::exp(factor.log_below(x)), below / words - error) << p;
        EXPECT_LE(std::exp(factor.log_below(x)), below / words + 0.02) << p;  // a cell
        EXPECT_LE(factor.mean_below(x), sum / below + 1e-5) << p;
        EXPECT_GE(factor.mean_below(x), sum / below - 1e-3) << p;
    }
    EXPECT_EQ(factor.log_below(factor.largest()), 0.0);
    EXPECT_EQ(factor.mean_below(0.0), 0.0);
    EXPECT_TRUE(GroupFactor(QuantileTable([](double, bool) { return 1.0; })).constant());
}

/// Brute force: fleets that differ in their GPUs alone, or in all that varies between steps as well, with all
/// replicas simulated. No bound is higher than an upper limit of what is drawn (four standard errors), and
/// all are well above the noise-free step.
TEST(SlowestGroup, BoundsMeansAndQuantilesOfFleets)
{
    Variability persistent;
    persistent.gpu = {Normal{0.016}, {0.0128, 0.089}, 20.0, "test"};
    Variability all = persistent;
    set_residuals({0.02, 0.03, 0.03, 0.10, 0.30, 0.10}, all);
    all.node = {Normal{0.0025}, {}, 20.0, "test"};
    for (const Variability& variability : {persistent, all}) {
        const Problem problem = example_problem(variability, 64, group_widths);
        for (const Sharding sharding : {Sharding::zero1, Sharding::zero3}) {
            for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::gpipe}) {
                for (const int dp : {1, 4}) {
                    ParallelPlan plan = some_plan(sharding, dp);
                    plan.schedule = schedule;
                    const ExecutionGraph graph = bounded_graph(problem, plan);
                    const double noise_free_s = noise_free_step(graph_of(problem, plan)).step_s;
                    EXPECT_GE(noise_free_step(graph).step_s, noise_free_s * (1.0 - 1e-6));
                    constexpr std::array probabilities{0.95, 0.99};
                    constexpr int fleets = 8192;
                    std::vector<double> steps = sample_steps(graph_of(problem, plan), problem.noise,
                                                             {0, fleets, 1}, {9, Purpose::search, dp});
                    std::sort(steps.begin(), steps.end());
                    const double mean = std::accumulate(steps.begin(), steps.end(), 0.0) / fleets;
                    double squares = 0.0;
                    for (const double step : steps) {
                        squares += (step - mean) * (step - mean);
                    }
                    for (const std::vector<StagePath>& paths :
                         {stage_paths(graph, program_paths(*graph.program).paths), own_stage_paths(graph)}) {
                        const LeastStep least =
                            slowest_group_bounds(graph, GroupFactor(graph.group), paths, probabilities);
                        EXPECT_LE(least.mean_s, mean + 4.0 * std::sqrt(squares) / fleets)
                            << dp << ' ' << name(schedule);
                        EXPECT_GE(least.mean_s, 0.98 * mean) << dp << ' ' << name(schedule);
                        if (dp > 1) {
                            EXPECT_GT(least.mean_s, 1.005 * noise_free_s) << name(schedule);
                        }
                        for (std::size_t i = 0; i < probabilities.size(); ++i) {
                            const double error =
                                std::sqrt(probabilities[i] * (1.0 - probabilities[i]) / fleets);
                            EXPECT_LE(
                                least.quantiles_s[i],
                                steps[static_cast<std::size_t>((probabilities[i] + 4.0 * error) * fleets)])
                                << dp << ' ' << name(schedule);
                            EXPECT_GE(least.quantiles_s[i], steps[static_cast<std::size_t>(0.5 * fleets)])
                                << dp << ' ' << name(schedule);
                        }
                    }
                }
            }
        }
    }
}

TEST(SlowestGroup, SaysNothingWhereGroupsAreEqual)
{
    const Problem problem = example_problem(Variability{}, 64, group_widths);
    const ExecutionGraph graph = bounded_graph(problem, some_plan(Sharding::zero1, 4));
    constexpr std::array probabilities{0.99};
    const LeastStep least =
        slowest_group_bounds(graph, GroupFactor(graph.group), own_stage_paths(graph), probabilities);
    EXPECT_EQ(least.mean_s, 0.0);
    EXPECT_EQ(least.quantiles_s, std::vector<double>{0.0});
}

}  // namespace
}  // namespace prismopt
