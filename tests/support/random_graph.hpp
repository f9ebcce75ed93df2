#pragma once

/// Execution graphs made by hand, for tests of what runs over them.

#include "model/step/graph/execution_graph.hpp"

#include <random>
#include <vector>

namespace prismopt {

/// A graph of this shape in which nothing takes any time.
inline ExecutionGraph empty_graph(const ScheduleShape& shape, DataParallelOverlap overlap)
{
    ExecutionGraph graph;
    graph.program = std::get<std::shared_ptr<const Program>>(compiled_program(shape));
    graph.dp_overlap = overlap;
    const std::size_t stage_chunks = static_cast<std::size_t>(shape.stages) * shape.chunks;
    graph.distribution.resize(stage_chunks * graph.passes());
    graph.first_slot.resize(stage_chunks);
    graph.reduction.resize(stage_chunks);
    graph.gathering.resize(stage_chunks);
    graph.optimizer_s.resize(shape.stages);
    return graph;
}

/// Times drawn anew for each chunk; transfers, gathers and reductions from nothing to several ops' worth.
inline ExecutionGraph random_graph(const ScheduleShape& shape, DataParallelOverlap overlap,
                                   std::mt19937_64& random)
{
    std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
    ExecutionGraph graph = empty_graph(shape, overlap);
    const float transfer = 2.0F * uniform(random) * uniform(random);
    const float exchange = 20.0F * uniform(random) * uniform(random);
    for (OpDistribution& distribution : graph.distribution) {
        distribution.compute_s = 0.5F + uniform(random);
        distribution.compute.mean_s = distribution.compute_s;
        distribution.communication_s = 0.3F * uniform(random);
        distribution.transfer_s = transfer * uniform(random);
    }
    for (std::size_t stage_chunk = 0; stage_chunk < graph.first_slot.size(); ++stage_chunk) {
        graph.reduction[stage_chunk] = {exchange * uniform(random), uniform(random),
                                        exchange * uniform(random)};
        graph.gathering[stage_chunk] = {exchange * uniform(random), uniform(random),
                                        exchange * uniform(random)};
    }
    for (float& seconds : graph.optimizer_s) {
        seconds = uniform(random);
    }
    graph.group_mean = 1.0 + static_cast<double>(uniform(random)) / 10.0;
    return graph;
}

inline std::vector<ScheduleShape> graph_shapes()
{
    return {{Schedule::one_f_one_b, 1, 4, 1}, {Schedule::one_f_one_b, 2, 1, 1},
            {Schedule::one_f_one_b, 4, 8, 1}, {Schedule::gpipe, 3, 5, 1},
            {Schedule::interleaved, 2, 4, 2}, {Schedule::interleaved, 4, 8, 3},
            {Schedule::zb_h1, 4, 8, 1},       {Schedule::zb_h2, 3, 7, 1},
            {Schedule::zb_v, 3, 6, 2},        {Schedule::v_half, 4, 5, 2}};
}

/// Shapes with many microbatches: schedules repeat for most of the step.
inline std::vector<ScheduleShape> long_shapes()
{
    return {{Schedule::one_f_one_b, 1, 50, 1},     {Schedule::one_f_one_b, 6, 151, 1},
            {Schedule::gpipe, 4, 90, 1},           {Schedule::interleaved, 4, 160, 3},
            {Schedule::interleaved, 3, 120, 2, 6}, {Schedule::zb_h1, 5, 130, 1},
            {Schedule::zb_h2, 4, 140, 1},          {Schedule::zb_v, 4, 150, 2},
            {Schedule::v_half, 5, 160, 2},         {Schedule::v_min, 4, 170, 2},
            {Schedule::dualpipe, 4, 120, 2},       {Schedule::dualpipe_v, 3, 121, 2}};
}

}  // namespace prismopt
