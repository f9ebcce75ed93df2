#include "model/step/graph/critical_paths.hpp"

#include "model/step/graph/mean_step.hpp"
#include "tests/support/random_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace prismopt {
namespace {

/// Time at which a chunk's parameters are there.
double gathered(const ExecutionGraph& graph, int stage_chunk)
{
    const int first = stage_chunk / graph.chunks() * graph.chunks();
    const int last = graph.dp_overlap == DataParallelOverlap::on ? stage_chunk : first + graph.chunks() - 1;
    double sum = 0.0;
    for (int p = first; p <= last; ++p) {
        sum += static_cast<double>(graph.gathering[p].exposed());
    }
    return sum;
}

/// Length of a path in a graph whose times may have changed since: factors by stage, and
/// one for the ops' communication.
double length(const CriticalPath& path, const ExecutionGraph& now, const std::vector<double>& factor,
              double communication)
{
    double sum = communication * static_cast<double>(path.communication_s);
    for (std::size_t stage = 0; stage < factor.size(); ++stage) {
        sum += factor[stage] * static_cast<double>(path.compute_s[stage]);
    }
    sum += path.gathered_chunk >= 0 ? gathered(now, path.gathered_chunk) : 0.0;
    for (const int stage_chunk : path.reduced_chunks) {
        sum += static_cast<double>(now.reduction[stage_chunk].exposed());
    }
    return sum;
}

double without_optimizer(const ExecutionGraph& graph)
{
    const float optimizer = *std::max_element(graph.optimizer_s.begin(), graph.optimizer_s.end());
    return noise_free_step(graph).step_s - graph.group_mean * static_cast<double>(optimizer);
}

/// Parameters gathered in time do not cut a path short.
ExecutionGraph without_late_gathers(ExecutionGraph graph)
{
    for (std::size_t stage_chunk = 0; stage_chunk < graph.gathering.size(); ++stage_chunk) {
        if (stage_chunk % static_cast<std::size_t>(graph.chunks()) != 0) {
            graph.gathering[stage_chunk] = {0.0F};
        }
    }
    return graph;
}

TEST(CriticalPaths, OfTheUnperturbedGraphIsTheNoiseFreeStep)
{
    std::mt19937_64 random(5);
    for (const ScheduleShape& shape : graph_shapes()) {
        for (const DataParallelOverlap overlap : {DataParallelOverlap::off, DataParallelOverlap::on}) {
            for (int repeat = 0; repeat < 20; ++repeat) {
                const ExecutionGraph graph = without_late_gathers(random_graph(shape, overlap, random));
                const auto paths = critical_paths(graph);
                ASSERT_EQ(paths.size(), static_cast<std::size_t>(shape.stages) + 1);
                const double found =
                    length(paths[0], graph, std::vector<double>(shape.stages, graph.group_mean), 1.0);
                EXPECT_NEAR(found, without_optimizer(graph), 1e-5 * found)
                    << name(shape.schedule) << " " << repeat;
            }
        }
    }
}

/// With one stage 15 % slower the path that was made for it has the length of that step.
TEST(CriticalPaths, FollowASlowStage)
{
    std::mt19937_64 random(6);
    for (const ScheduleShape& shape : graph_shapes()) {
        const ExecutionGraph graph =
            without_late_gathers(random_graph(shape, DataParallelOverlap::on, random));
        const auto paths = critical_paths(graph);
        for (int slow = 0; slow < shape.stages; ++slow) {
            ExecutionGraph slowed = graph;
            const int distributions = graph.passes() * shape.chunks;  // of a stage
            for (int distribution = slow * distributions; distribution < (slow + 1) * distributions;
                 ++distribution) {
                slowed.distribution[distribution].compute_s *= 1.15F;
            }
            std::vector<double> factor(shape.stages, graph.group_mean);
            factor[slow] *= 1.15;
            const double found = length(paths[slow + 1], graph, factor, 1.0);
            EXPECT_NEAR(found, without_optimizer(slowed), 1e-5 * found)
                << name(shape.schedule) << " " << slow;
        }
    }
}

/// Whatever the factors: no path is longer than the step that they make.
TEST(CriticalPaths, BoundTheStepFromBelow)
{
    std::mt19937_64 random(7);
    std::uniform_real_distribution<float> uniform(0.5F, 2.0F);
    for (const ScheduleShape& shape : graph_shapes()) {
        for (const DataParallelOverlap overlap : {DataParallelOverlap::off, DataParallelOverlap::on}) {
            for (int repeat = 0; repeat < 20; ++repeat) {
                const ExecutionGraph graph = random_graph(shape, overlap, random);
                const auto paths = critical_paths(graph);
                ExecutionGraph drawn = graph;
                const float communication = uniform(random);
                std::vector<double> factor;
                for (int stage = 0; stage < shape.stages; ++stage) {
                    const float f = uniform(random);
                    factor.push_back(static_cast<double>(f) * graph.group_mean);
                    const int distributions = graph.passes() * shape.chunks;  // of a stage
                    for (int distribution = stage * distributions; distribution < (stage + 1) * distributions;
                         ++distribution) {
                        drawn.distribution[distribution].compute_s *= f;
                        drawn.distribution[distribution].communication_s *= communication;
                        drawn.distribution[distribution].transfer_s *= communication;
                    }
                }
                for (std::size_t stage_chunk = 0; stage_chunk < drawn.gathering.size(); ++stage_chunk) {
                    drawn.gathering[stage_chunk].seconds *= uniform(random);
                    drawn.reduction[stage_chunk].seconds *= uniform(random);
                }
                const double step = without_optimizer(drawn);
                for (const CriticalPath& path : paths) {
                    EXPECT_LE(length(path, drawn, factor, static_cast<double>(communication)),
                              step * (1.0 + 1e-5));
                }
            }
        }
    }
}

}  // namespace
}  // namespace prismopt
