#pragma once

/// Draws of the step time of a whole job: all data parallel replicas of an execution graph.
///
/// Replicas meet once a step, in the collectives of their gradients; these are shared draws, and max-plus maps commute with
/// the maximum, so the step is the maximum over replicas of one replica's graph that carries the shared draws. Of the
/// replicas only a few are simulated op by op in a draw: persistent and per-step factors of all are drawn (cheap), replicas
/// are ranked by their longest critical path, and the slowest are simulated. The others are given path length plus a
/// residual, whose law (level of the draw, slope in the path length, deviation, skewness) comes from the simulated ones.
/// With as many simulated replicas as there are, this is brute force.
///
/// Replicas that are coupled inside ops (model/plan/coupling.hpp: FSDP, expert groups that span replicas) run in lockstep and are
/// one replica here: its ops' laws are composed for the GPUs of all its members, its factors are those of the set
/// (model/step/graph/coupled_law.hpp) by stage and microbatch. Collectives inside an op are one draw for all members.
///
/// Draws are made once for all plans whose ops have the same keys (schedule, p, m, v and layer split), window by window of the
/// program, so that they stay in the cache; plans differ only in their laws. The factors of site, regimes, stages and microbatches are
/// stratified over the 64 fleets of a block (Latin hypercube); everything else is drawn plainly.

#include "model/base/random.hpp"
#include "model/step/graph/execution_graph.hpp"

#include <cstdint>
#include <span>
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

/// Plain: draws of different fleets are independent. Stratified: those of a block share out the strata of the factors of the
/// fleet, the step, the stages and the microbatches; each alone is distributed as before, so estimates stay unbiased.
enum class Sampling { plain, stratified };

struct SamplerOptions {
    std::uint64_t seed = 1;
    Purpose purpose = Purpose::search;
    int replicas_simulated = 4;  // (sets of coupled ones) at least 2 where there are more
    Sampling sampling = Sampling::stratified;
};

/// Step times in seconds: [graph][(fleet - first_fleet) * steps + step]. Equal for any number of threads, for any way of cutting
/// a range into blocks, and whichever other graphs are sampled with one.
std::vector<std::vector<double>> sample_steps(std::span<const ExecutionGraph* const> graphs, const NoiseTables& noise,
                                              const DrawRange& range, const SamplerOptions& options);

/// The same for one graph.
std::vector<double> sample_steps(const ExecutionGraph& graph, const NoiseTables& noise, const DrawRange& range,
                                 const SamplerOptions& options);

/// Threads that sample_steps() uses.
int sampler_threads();

}  // namespace prismopt
