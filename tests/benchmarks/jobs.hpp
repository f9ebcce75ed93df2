#pragma once

/// The jobs that the benchmarks time, and what they are compared with.

#include "tests/support/example_problem.hpp"

#include "model/step/sample/sampler.hpp"

#include <cstdint>
#include <vector>

namespace prismopt::bench {

/// One replica, p stages, m microbatches, one sequence each. By default every factor of the model varies.
class PipelineJob {
public:
    PipelineJob(int stages, int microbatches, const Variability& variability = lively_variability());

    const Problem& problem() const { return problem_; }
    PlanCompiler compiler() const;
    ParallelPlan plan() const;
    ExecutionGraph graph() const;
    /// Plans that share schedule, p, m and v, and differ in tensor parallelism, recompute and sequence
    /// parallelism: `count` graphs, each with distributions of its own.
    std::vector<ExecutionGraph> candidates(std::size_t count) const;
    /// The same without tensor parallelism, all ops with one distribution up to scale.
    std::vector<ExecutionGraph> candidates_of_one_distribution(std::size_t count) const;

private:
    Problem problem_;
};

std::vector<const ExecutionGraph*> pointers(const std::vector<ExecutionGraph>& graphs);

/// Spread of the ops alone: compute and transfers.
Variability residuals_only();

/// The plain way, one draw at a time in double precision with the standard library's generators: lognormal
/// residuals for compute, collectives and transfers of every op, each a distribution of its own, as ops
/// differ; with `every_factor` also GPUs, nodes, site, common regimes, stages and microbatches. Parameters
/// are computed beforehand. Returns the mean of the step times, so that nothing is optimised away.
double scalar_steps(const ExecutionGraph& graph, int draws, bool every_factor);

}  // namespace prismopt::bench
