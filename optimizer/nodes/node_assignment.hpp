#pragma once

/// Assignment of known nodes to the places of a plan, for the lowest p99 step time.

#include "model/step/graph/execution_graph.hpp"
#include "model/step/sample/sampler.hpp"
#include "search/assignment.hpp"

#include <span>
#include <vector>

namespace prismopt {

struct NodeAssignment {
    std::vector<float> node;  // [place in the order of placement]: factor
    double p99_s = 0.0;
    double bound_s = 0.0;      // lower bound of all assignments: see assignment_bound()
    double worst_p99_s = 0.0;  // highest p99 of all evaluated assignments
    bool exact = false;
    bool cut = false;  // the local search ended at options.most_judged
    std::size_t judged = 0;
};

/// `factors`: slowdown factors of all nodes, at least as many as the plan uses; the rest are spares.
/// `starts`: initial assignments, as [place] factors. All assignments are evaluated on the same draws.
/// Replicas whose nodes are neighbours may change places.
NodeAssignment best_nodes(const ExecutionGraph& graph, const NoiseTables& noise,
                          std::span<const float> factors, std::span<const std::vector<float>> starts,
                          const DrawRange& range, const SamplerOptions& sampler,
                          const AssignmentOptions& options);

}  // namespace prismopt
