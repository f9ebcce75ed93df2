#pragma once

/// Even pipelines with few, plain distributions, made by hand: what a simulation
/// of a dozen lines can also run.

#include "model/distribution/noise_tables.hpp"
#include "model/step/graph/execution_graph.hpp"
#include "tests/support/random_graph.hpp"

#include <array>
#include <memory>

namespace prismopt {

/// Lognormal factors of mean one, by their cv.
struct PipelineNoise {
    double compute = 0.05;   // each op
    double stage = 0.03;     // each stage, replica and step
    double spatial = 0.0;    // each stage and replica, for as long as the fleet lives
    double transfer = 0.30;  // each message to a neighbouring stage
};

inline constexpr double forward_s = 1.0;
inline constexpr double backward_s = 2.0;
inline constexpr double transfer_s = 0.1;

inline Distribution lognormal(double cv)
{
    return cv > 0.0 ? Distribution{LogNormal{cv}, {}, 20.0, "test"} : Distribution{};
}

inline NoiseTables pipeline_tables(const PipelineNoise& noise)
{
    Variability v;
    v.stage = lognormal(noise.stage);
    v.residual[static_cast<std::size_t>(KernelClass::p2p)] = lognormal(noise.transfer);
    constexpr std::array width{1};
    return build_noise_tables(v, width);
}

/// All stages are equal; the replicas synchronise at the end of the step, in collectives that take no time.
inline ExecutionGraph pipeline_graph(const ScheduleShape& shape, int replicas, const PipelineNoise& noise)
{
    ExecutionGraph graph = empty_graph(shape, DataParallelOverlap::on);
    graph.placement.stages = shape.stages;
    graph.placement.replicas = replicas;
    graph.placement.replica_stride = shape.stages;
    const DistributionQuantile op{lognormal(noise.compute)};
    const double cv = noise.compute;
    graph.shapes.push_back(std::make_shared<const StandardDistribution>(
        [&op, cv](double p, bool upper) { return (op(p, upper) - 1.0) / cv; },
        StandardDistribution::node_probabilities()));
    for (std::size_t i = 0; i < graph.distribution.size(); ++i) {
        const double seconds = (i % 2 == 0 ? forward_s : backward_s) / shape.chunks;
        graph.distribution[i].compute_s = static_cast<float>(seconds);
        graph.distribution[i].compute = {static_cast<float>(seconds), static_cast<float>(cv), 0};
        graph.distribution[i].transfer_s = static_cast<float>(transfer_s);
    }
    // What begins and what turns round at the last stage has no sender.
    graph.distribution.front().transfer_s = 0.0F;
    graph.distribution.back().transfer_s = 0.0F;
    for (std::size_t stage_chunk = 0; stage_chunk < graph.first_slot.size(); ++stage_chunk) {
        graph.first_slot[stage_chunk] = static_cast<std::uint16_t>(stage_chunk);
    }
    graph.group = QuantileTable(DistributionQuantile(lognormal(noise.spatial)));
    return graph;
}

}  // namespace prismopt
