#pragma once

/// Which known nodes serve which place of a plan, so that the p99 of the step is least.

#include "model/step/graph/execution_graph.hpp"
#include "model/step/sample/sampler.hpp"
#include "search/assignment.hpp"

#include <span>
#include <vector>

namespace prismopt {

struct NodeAssignment {
    std::vector<float> node;  // [place in the order of placement]: factor
    double p99_s = 0.0;
    double bound_s = 0.0;      // no seating has less: see seat_bound()
    double worst_p99_s = 0.0;  // of all that were judged
    bool exact = false;
    bool cut = false;  // the moves ended at options.most_judged
    std::size_t judged = 0;
};

/// `factors`: of all nodes that there are, at least as many as the plan uses; those left over are spares. `starts`: [place] factors to
/// set out from. All are judged on the same draws. Replicas whose nodes lie together may change places.
NodeAssignment best_nodes(const ExecutionGraph& graph, const NoiseTables& noise, std::span<const float> factors,
                          std::span<const std::vector<float>> starts, const DrawRange& range, const SamplerOptions& sampler,
                          const SeatingOptions& options);

}  // namespace prismopt
