#include "model/schedule/program_paths.hpp"

#include "model/step/graph/slowest_group.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/replayed_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace prismopt {
namespace {

std::vector<ScheduleShape> shapes()
{
    std::vector<ScheduleShape> all = graph_shapes();
    all.push_back({Schedule::dualpipe_v, 4, 12, 2});
    all.push_back({Schedule::one_f_one_b, 40, 60, 1});
    return all;
}

/// Brute force: whatever the durations are, no path is longer than the step.
TEST(ProgramPaths, AreNeverLongerThanTheStep)
{
    std::mt19937_64 random(7);
    for (const ScheduleShape& shape : shapes()) {
        for (const DataParallelOverlap overlap : {DataParallelOverlap::on, DataParallelOverlap::off}) {
            for (int repeat = 0; repeat < 10; ++repeat) {
                const ExecutionGraph graph = random_graph(shape, overlap, random);
                const std::vector<ProgramPath> paths = program_paths(*graph.program).paths;
                ASSERT_EQ(paths.size(), static_cast<std::size_t>(std::min(16, shape.stages)));
                const double longest = longest_path(stage_paths(graph, paths));
                const double step = replayed_step(graph);
                EXPECT_LE(longest, step * (1.0 + 1e-12)) << name(shape.schedule);
                EXPECT_GE(longest, 0.5 * step) << name(shape.schedule);
            }
        }
    }
}

/// Of schedules most of which the search for paths omits; against the paths of the whole program.
TEST(ProgramPaths, OfManyMicrobatchesAreNeverLongerThanTheStepAndAsLongAsOthers)
{
    std::mt19937_64 random(8);
    for (ScheduleShape shape : long_shapes()) {
        shape.microbatches *= shape.stages > 1 ? 4 : 1;
        for (int repeat = 0; repeat < 10; ++repeat) {
            const ExecutionGraph graph = random_graph(shape, DataParallelOverlap::on, random);
            Program whole = *graph.program;
            whole.repeats.clear();
            const double longest = longest_path(stage_paths(graph, program_paths(*graph.program).paths));
            const double of_whole = longest_path(stage_paths(graph, program_paths(whole).paths));
            EXPECT_LE(longest, replayed_step(graph) * (1.0 + 1e-12)) << name(shape.schedule);
            // Both are chosen for usual durations and not for these, so one may be
            // a little longer than the other.
            EXPECT_GE(longest, 0.99 * of_whole) << name(shape.schedule);
        }
    }
}

TEST(ProgramPaths, AreThoseOfTheShortenedProgram)
{
    std::mt19937_64 random(9);
    for (ScheduleShape shape : long_shapes()) {
        shape.microbatches *= 4;
        ExecutionGraph graph = random_graph(shape, DataParallelOverlap::on, random);
        const std::vector<ProgramPath> whole = program_paths(*graph.program).paths;
        const double own = longest_path(own_stage_paths(graph));
        graph.program = std::get<std::shared_ptr<const Program>>(shortened_program(shape));
        const std::vector<ProgramPath> paths = program_paths(*graph.program).paths;
        ASSERT_EQ(paths.size(), whole.size());
        for (std::size_t i = 0; i < paths.size(); ++i) {
            const auto same = [](const ProgramPath::Count& a, const ProgramPath::Count& b) {
                return a.distribution == b.distribution && a.ops == b.ops && a.transfers == b.transfers;
            };
            EXPECT_TRUE(std::ranges::equal(paths[i].own, whole[i].own, same)) << name(shape.schedule);
            EXPECT_TRUE(std::ranges::equal(paths[i].others, whole[i].others, same)) << name(shape.schedule);
        }
        EXPECT_EQ(longest_path(own_stage_paths(graph)), own) << name(shape.schedule);
    }
}

/// With the durations for which they are chosen, one of them is the step.
TEST(ProgramPaths, ContainACriticalPathWhereStagesAreEqual)
{
    for (const ScheduleShape& shape : shapes()) {
        ExecutionGraph graph = empty_graph(shape, DataParallelOverlap::on);
        constexpr std::array seconds{1.0F, 2.0F, 1.0F, 1.0F, 0.0F, 3.0F};
        for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
            graph.distribution[i].compute_s = seconds[i % static_cast<std::size_t>(graph.passes())];
        }
        const double longest = longest_path(stage_paths(graph, program_paths(*graph.program).paths));
        EXPECT_NEAR(longest, replayed_step(graph), 1e-9) << name(shape.schedule);
    }
}

/// Each begins where the step does and ends with the last op of a stage, and its own ops are
/// all of its stage's between two.
TEST(ProgramPaths, StayInTheirStages)
{
    for (const ScheduleShape& shape : shapes()) {
        const auto compiled = compiled_program(shape);
        const Program& program = *std::get<std::shared_ptr<const Program>>(compiled);
        const std::uint32_t distributions_of_stage =
            static_cast<std::uint32_t>(shape.chunks * program.passes);
        const std::vector<ProgramPath> paths = program_paths(program, 4).paths;
        EXPECT_EQ(paths.front().stage, 0);
        EXPECT_EQ(paths.back().stage, paths.size() > 1 ? shape.stages - 1 : 0);
        for (const ProgramPath& path : paths) {
            std::uint32_t own = 0;
            for (const ProgramPath::Count& count : path.own) {
                EXPECT_EQ(static_cast<int>(count.distribution / distributions_of_stage), path.stage);
                own += count.ops;
            }
            const auto of_stage =
                std::count_if(program.ops.begin(), program.ops.end(),
                              [&](const ProgramOp& op) { return static_cast<int>(op.stage) == path.stage; });
            EXPECT_LE(own, of_stage);
            EXPECT_GE(own, 1U);
        }
    }
}

}  // namespace
}  // namespace prismopt
