#pragma once

/// Lower bounds of the mean step of a fleet from its slowest tensor-parallel groups: of its mean and its
/// quantiles over fleets. docs/methods/step-graph.md.

#include "model/distribution/quantile_table.hpp"
#include "model/schedule/program_paths.hpp"
#include "model/step/graph/mean_step.hpp"

#include <span>
#include <vector>

namespace prismopt {

/// A path with all factors at their means except that of the stage in which it stays: its length
/// is rest_s + factor * compute_s.
struct StagePath {
    double rest_s = 0.0;
    double others_s = 0.0;  // part of the rest: compute of other stages
    double compute_s = 0.0;
    double factor = 1.0;  // mean
};

/// Returns the paths of the program with the durations of a graph, without the optimizer's time.
std::vector<StagePath> stage_paths(const ExecutionGraph& graph, std::span<const ProgramPath> paths);

/// Returns paths of all stages that are chosen by the graph's own durations, each stage slowed in turn.
std::vector<StagePath> own_stage_paths(const ExecutionGraph& graph);

/// Returns the length of the longest path, at the means: a lower bound of the
/// noise-free step without the optimizer.
double longest_path(std::span<const StagePath> paths);

/// Persistent factor of a tensor-parallel group, tabulated by its values.
class GroupFactor {
public:
    explicit GroupFactor(const QuantileTable& factor);

    /// Returns whether all groups are equal; the functions below then need not be called.
    bool constant() const { return log_below_.empty(); }
    double mean() const { return mean_; }
    double largest() const { return largest_; }
    /// Returns at least log P(factor <= x).
    double log_below(double x) const;
    /// Returns at most E[factor | factor <= x].
    double mean_below(double x) const;

private:
    double mean_ = 1.0;
    double largest_ = 1.0;
    double first_ = 0.0;  // of the table's values, which are evenly spaced
    double step_ = 0.0;
    std::vector<double> log_below_;
    std::vector<double> mean_below_;
};

struct LeastStep {
    double mean_s = 0.0;
    std::vector<double> quantiles_s;  // in the order of their probabilities
};

/// Returns lower bounds of the mean step of a fleet, from the slowest of the groups in which the paths stay,
/// in all replicas. All zero if groups do not vary or the factors of nodes are known.
LeastStep slowest_group_bounds(const ExecutionGraph& graph, const GroupFactor& group,
                               std::span<const StagePath> paths, std::span<const double> probabilities);

/// The same without a graph, and without what follows all paths, for groups that vary.
LeastStep slowest_group_bounds(const GroupFactor& group, std::span<const StagePath> paths, int replicas,
                               std::span<const double> probabilities);

}  // namespace prismopt
