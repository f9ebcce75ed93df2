#include "model/step/graph/slowest_group.hpp"

#include "model/step/sample/sampler.hpp"
#include "tests/support/example_problem.hpp"
#include "tests/support/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace prismopt {
namespace {

/// The step without the optimizer, one stage slower than the others.
double replayed(const ExecutionGraph& graph, int slow_stage, double slowness)
{
    MeanRun run(graph, slow_stage, slowness);
    run.run([](std::size_t, const ProgramOp&, double, double, bool) {});
    double last = 0.0;
    for (int stage = 0; stage < graph.stages(); ++stage) last = std::max(last, run.step_end(stage));
    return last;
}

/// A path is never longer than the step, and at the slowness for which it was chosen it is nearly as long for some stage.
TEST(SlowestGroup, PathsAreNeverLongerThanTheStep)
{
    std::mt19937_64 random(5);
    for (const ScheduleShape& shape : graph_shapes()) {
        for (const DataParallelOverlap overlap : {DataParallelOverlap::on, DataParallelOverlap::off}) {
            for (int repeat = 0; repeat < 5; ++repeat) {
                const ExecutionGraph graph = random_graph(shape, overlap, random);
                const std::vector<StagePath> paths = stage_paths(graph, program_paths(*graph.program).paths);
                ASSERT_EQ(paths.size(), static_cast<std::size_t>(graph.stages()));
                double longest = 0.0;
                for (int stage = 0; stage < graph.stages(); ++stage) {
                    for (const double slowness : {1.0, 1.1, 2.0}) {
                        const double path = paths[stage].rest_s + slowness * graph.group_mean * paths[stage].compute_s;
                        const double step = replayed(graph, stage, slowness);
                        EXPECT_LE(path, step * (1.0 + 1e-12)) << name(shape.schedule) << ", stage " << stage;
                        longest = slowness == 1.1 ? std::max(longest, path / step) : longest;
                    }
                }
                EXPECT_GE(longest, 0.4) << name(shape.schedule);  // chosen for other durations, without exchanges
            }
        }
    }
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

constexpr std::array widths{2};

/// Brute force: fleets that differ in nothing but their GPUs, with all replicas simulated. The bound is no higher than the upper
/// limit of the quantile (four standard errors of the share of fleets below), and well above the noise-free step.
TEST(SlowestGroup, BoundsQuantilesOfFleets)
{
    Variability variability;
    variability.gpu = {Normal{0.016}, {0.0128, 0.089}, 20.0, "test"};
    const Problem problem = example_problem(variability, 64, widths);
    for (const Sharding sharding : {Sharding::zero1, Sharding::zero3}) {
        for (const int dp : {1, 4}) {
            const ExecutionGraph graph = graph_of(problem, some_plan(sharding, dp));
            const NoiseFreeStep noise_free = noise_free_step(graph);
            constexpr std::array probabilities{0.95, 0.99};
            const std::vector<StagePath> paths = stage_paths(graph, program_paths(*graph.program).paths);
            const std::vector<double> bounds = slowest_group_bounds(graph, paths, noise_free.step_s, probabilities);
            constexpr int fleets = 8192;
            std::vector<double> steps = sample_steps(graph, problem.noise, {0, fleets, 1}, {9, Purpose::search, dp});
            std::sort(steps.begin(), steps.end());
            for (std::size_t i = 0; i < probabilities.size(); ++i) {
                const double error = std::sqrt(probabilities[i] * (1.0 - probabilities[i]) / fleets);
                EXPECT_LE(bounds[i], steps[static_cast<std::size_t>((probabilities[i] + 4.0 * error) * fleets)]) << dp;
                EXPECT_GE(bounds[i], steps[static_cast<std::size_t>(0.5 * fleets)]) << dp;
            }
            EXPECT_GT(bounds[1], 1.02 * noise_free.step_s);
        }
    }
}

TEST(SlowestGroup, EqualsTheNoiseFreeStepWhereGroupsAreAlike)
{
    const Problem problem = example_problem(Variability{}, 64, widths);
    const ExecutionGraph graph = graph_of(problem, some_plan(Sharding::zero1, 4));
    const NoiseFreeStep noise_free = noise_free_step(graph);
    constexpr std::array probabilities{0.99};
    const std::vector<StagePath> paths = stage_paths(graph, program_paths(*graph.program).paths);
    EXPECT_EQ(slowest_group_bounds(graph, paths, noise_free.step_s, probabilities).front(), noise_free.step_s);
}

}  // namespace
}  // namespace prismopt
