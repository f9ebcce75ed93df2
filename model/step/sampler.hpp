#pragma once

/// Draws of the step time of a whole job: all data parallel replicas of an execution graph.
///
/// Replicas meet once a step, in the collectives of their gradients; these are shared draws, and max-plus maps commute with
/// the maximum, so the step is the maximum over replicas of one replica's graph that carries the shared draws. Of the
/// replicas only a few are simulated op by op in a draw: persistent and per-step factors of all are drawn (cheap), replicas
/// are ranked by their longest critical path, and the slowest are simulated. The others are given path length plus a
/// residual, whose law (level of the draw, slope in the path length, deviation, skewness) comes from the simulated ones.
/// With as many simulated replicas as there are, this is brute force, with the same draws.

#include "model/random.hpp"
#include "model/step/execution_graph.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// Fleets [first, first + count) with `steps` steps each; first and count are multiples of the block size.
struct DrawRange {
    int first_fleet = 0;
    int fleets = 0;
    int steps = 1;
};

/// Fleets in a block: the vectorised dimension.
inline constexpr int block_fleets = lanes;

struct SamplerOptions {
    std::uint64_t seed = 1;
    Purpose purpose = Purpose::search;
    int replicas_simulated = 4;  // at least 2 where there are more replicas
};

/// Step times in seconds: entry (fleet - first_fleet) * steps + step. Equal for any number of threads, and for any way of
/// cutting a range into blocks.
std::vector<double> sample_steps(const ExecutionGraph& graph, const NoiseTables& noise, const DrawRange& range,
                                 const SamplerOptions& options);

/// Threads that sample_steps() uses.
int sampler_threads();

}  // namespace prismopt
