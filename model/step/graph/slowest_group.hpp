#pragma once

/// Lower bound of quantiles of the step over fleets, from the slowest tensor-parallel group of the job.
/// docs/methods/step-graph.md.

#include "model/schedule/program_paths.hpp"
#include "model/step/graph/mean_step.hpp"

#include <span>
#include <vector>

namespace prismopt {

/// A path with all factors at their means except those of the stage in which it stays: its length is rest_s + factor * compute_s. The
/// stage's factor must not be below its mean, `factor`, because the rest may pass through the stage as well.
struct StagePath {
    double rest_s = 0.0;
    double compute_s = 0.0;
    double factor = 1.0;
};

/// Returns the paths of the program with the durations of a graph, without the optimizer's time.
std::vector<StagePath> stage_paths(const ExecutionGraph& graph, std::span<const ProgramPath> paths);

/// Returns the length of the longest path, at the means: a lower bound of the noise-free step without the optimizer.
double longest_path(std::span<const StagePath> paths);

/// Returns a lower bound of each of these quantiles over fleets of the mean step of a fleet, in seconds; at least `least_s`, which must be
/// a lower bound of the noise-free step or that step.
///
/// Of the groups of k stages in all replicas, one is at least as slow as x with probability 1 - p, if x is the quantile p^(1/n) of
/// the factor of a group for n groups. Given the slowest, the others have at least the mean below x. The best k of the paths' stages
/// counts. Equals `least_s` if the factors of nodes are known or groups do not vary.
std::vector<double> slowest_group_bounds(const ExecutionGraph& graph, std::span<const StagePath> paths, double least_s,
                                         std::span<const double> probabilities);

}  // namespace prismopt
