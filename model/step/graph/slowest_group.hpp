#pragma once

/// Lower bound of quantiles of the step over fleets, from the slowest tensor-parallel group of the job.
/// docs/methods/step-graph.md.

#include "model/step/graph/mean_step.hpp"

#include <span>
#include <vector>

namespace prismopt {

/// A path through the ops of one stage and of the stages before and after it, with all factors at their means except the stage's
/// own: its length is rest_s + factor * compute_s, for factors not below the mean.
struct StagePath {
    double rest_s = 0.0;
    double compute_s = 0.0;
};

/// Returns for each stage the path that is longest if the stage is a tenth slower than the others, without the optimizer's time.
std::vector<StagePath> stage_paths(const ExecutionGraph& graph);

/// Returns a lower bound of each of these quantiles over fleets of the mean step of a fleet, in seconds; at least the noise-free
/// step.
///
/// Of the groups of k stages in all replicas, one is at least as slow as x with probability 1 - p, if x is the quantile p^(1/n) of
/// the factor of a group for n groups. Given the slowest, the others have at least the mean below x. The best k counts. Equals
/// the noise-free step if the factors of nodes are known or groups do not vary.
std::vector<double> slowest_group_bounds(const ExecutionGraph& graph, const NoiseFreeStep& noise_free,
                                         std::span<const double> probabilities);

}  // namespace prismopt
