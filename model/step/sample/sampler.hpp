#pragma once

/// Draws of the step time of a whole job: all data-parallel replicas of an execution
/// graph. docs/methods/sampling.md.
///
/// The step time is the maximum over replicas of one replica's graph that carries the shared draws of
/// collectives. Only a few replicas are simulated op by op in a draw: the factors of all are drawn, replicas
/// are ranked by their longest critical path, and the slowest are simulated. The others get path length plus
/// a residual fitted to the simulated ones. If all replicas are simulated, this is brute force. Replicas that
/// are coupled inside ops (model/plan/coupling.hpp) run in lockstep and count as one replica here.
///
/// Draws are made once for all plans whose ops have the same keys (schedule, p, m, v and layer split). The
/// site, per-step, stage and microbatch factors are stratified over the 64 fleets of a block
/// (Latin hypercube); all other draws are independent.

#include "model/base/random.hpp"
#include "model/distribution/noise_tables.hpp"
#include "model/step/graph/execution_graph.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Fleets [first_fleet, first_fleet + fleets) with `steps` steps each; both are multiples of the block size.
struct DrawRange {
    int first_fleet = 0;
    int fleets = 0;
    int steps = 1;
};

/// Number of fleets in a block, the vectorised dimension.
inline constexpr int block_fleets = lanes;

/// Plain: draws of different fleets are independent. Stratified: the fleets of a block lie in
/// different strata of fleets, step, stage and microbatch factors; the distribution of each draw is
/// unchanged, so estimates stay unbiased.
enum class Sampling { plain, stratified };

struct SamplerOptions {
    std::uint64_t seed = 1;
    Purpose purpose = Purpose::search;
    int replicas_simulated = 4;  // (or sets of coupled ones); at least 2 if there are more
    Sampling sampling = Sampling::stratified;
};

/// Returns step times in seconds, [graph][(fleet - first_fleet) * steps + step]. They do not depend on the
/// number of threads, on the division of a range into blocks, or on the other graphs.
std::vector<std::vector<double>> sample_steps(std::span<const ExecutionGraph* const> graphs,
                                              const NoiseTables& noise, const DrawRange& range,
                                              const SamplerOptions& options);

/// Ranges that make up `range`, in order, each with about ten thousand draws over all graphs, and with work
/// for all threads: callers may pause between them.
std::vector<DrawRange> split_range(const DrawRange& range, std::size_t graphs);

/// Returns the step times of one graph.
std::vector<double> sample_steps(const ExecutionGraph& graph, const NoiseTables& noise,
                                 const DrawRange& range, const SamplerOptions& options);

}  // namespace prismopt
