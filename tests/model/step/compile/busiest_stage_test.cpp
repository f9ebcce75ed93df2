#include "model/step/compile/busiest_stage.hpp"

#include "tests/support/random_graph.hpp"
#include "tests/support/replayed_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace prismopt {
namespace {

/// Durations of the passes of a graph; passes that its schedule does not use take long.
std::vector<double> seconds_of(const ExecutionGraph& graph)
{
    constexpr double unused = 1e9;
    const auto passes = static_cast<std::size_t>(passes_of(graph.program->shape.schedule));
    const auto own = static_cast<std::size_t>(graph.passes());
    std::vector<double> seconds(static_cast<std::size_t>(graph.stages()) * graph.chunks() * passes, unused);
    for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
        const OpDistribution& op = graph.distribution[i];
        if (i % own < passes) {
            seconds[i / own * passes + i % own] =
                static_cast<double>(op.compute_s) + static_cast<double>(op.communication_s);
        }
    }
    return seconds;
}

std::vector<ScheduleShape> shapes()
{
    std::vector<ScheduleShape> all = graph_shapes();
    all.push_back({Schedule::dualpipe_v, 4, 12, 2});
    all.push_back({Schedule::dualpipe, 4, 12, 2});
    all.push_back({Schedule::one_f_one_b, 40, 60, 1});
    return all;
}

/// Brute force: whatever the durations are.
TEST(BusiestStage, IsNeverLongerThanTheStep)
{
    std::mt19937_64 random(11);
    for (const ScheduleShape& shape : shapes()) {
        for (int repeat = 0; repeat < 20; ++repeat) {
            const ExecutionGraph graph = random_graph(shape, DataParallelOverlap::on, random);
            EXPECT_LE(busiest_stage(shape, seconds_of(graph)), replayed_step(graph) * (1.0 + 1e-12))
                << name(shape.schedule);
        }
    }
}

/// The paths are those of the busiest stage, with compute and communication separated; of 16 stages at most.
TEST(BusiestStage, IsTheLongestOfItsPaths)
{
    constexpr double factor = 1.25;
    constexpr double compute_share = 0.75;
    std::mt19937_64 random(12);
    for (const ScheduleShape& shape : shapes()) {
        const std::vector<double> compute = seconds_of(random_graph(shape, DataParallelOverlap::on, random));
        std::vector<double> communication;
        std::vector<double> together;
        for (const double seconds : compute) {
            communication.push_back((1.0 - compute_share) * seconds);
            together.push_back(factor * seconds + communication.back());
        }
        const auto paths = busy_stage_paths(shape, compute, communication, factor);
        const double longest = busiest_stage(shape, together);
        if (shape.schedule == Schedule::dualpipe || shape.schedule == Schedule::dualpipe_v) {
            EXPECT_TRUE(paths.empty());
        } else if (shape.stages <= 16) {
            EXPECT_EQ(paths.size(), static_cast<std::size_t>(shape.stages));
            EXPECT_NEAR(longest_path(paths), longest, 1e-12 * longest) << name(shape.schedule);
        } else {
            EXPECT_LE(paths.size(), 16U);
            EXPECT_LE(longest_path(paths), longest * (1.0 + 1e-12)) << name(shape.schedule);
        }
    }
}

/// A step of p - 1 + m v passes of each kind, where nothing else takes time.
TEST(BusiestStage, IsTheStepWhereStagesAreEqual)
{
    for (const ScheduleShape& shape :
         {ScheduleShape{Schedule::gpipe, 4, 12, 1}, ScheduleShape{Schedule::one_f_one_b, 8, 20, 1},
          ScheduleShape{Schedule::interleaved, 4, 16, 3}}) {
        ExecutionGraph graph = empty_graph(shape, DataParallelOverlap::on);
        for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
            graph.distribution[i].compute_s = i % 2 == 0 ? 1.0F : 2.0F;
        }
        const double passes = shape.stages - 1 + shape.microbatches * shape.chunks;
        EXPECT_DOUBLE_EQ(busiest_stage(shape, seconds_of(graph)), 3.0 * passes) << name(shape.schedule);
        EXPECT_NEAR(replayed_step(graph), 3.0 * passes, 1e-9) << name(shape.schedule);
    }
}

}  // namespace
}  // namespace prismopt
