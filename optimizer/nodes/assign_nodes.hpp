#pragma once

/// Assignment of the nodes of a known cluster to a plan, for the lowest p99 step time.

#include <cstddef>
#include <string>
#include <vector>

namespace prismopt {

struct DrawRange;
struct ParallelPlan;
struct Problem;
struct SamplerOptions;

struct NodePosition {
    int first_gpu = 0;  // in the order of placement
    int node = 0;       // index in the list of the cluster
    double factor = 1.0;
    int replica = 0;  // of its first GPU
    int stage = 0;
};

struct AssignedNodes {
    std::vector<NodePosition> positions;
    // [node]: factors in the order of the positions, then those of the remaining nodes
    std::vector<double> factors;
    double given_p99_s = 0.0;  // p99 step time of the first phase in the node order of the plan
    double least_p99_s = 0.0;  // with this assignment, on the same draws that selected it
    double worst_p99_s = 0.0;  // highest of the evaluated assignments
    double bound_p99_s = 0.0;  // lower bound of all assignments, on the same draws
    bool exact = false;        // all assignments were evaluated; false: local search
    bool cut = false;          // the local search stopped at its limit of evaluations
    bool work_limits = false;  // the limit is lower than usual, because evaluations are expensive
    std::size_t judged = 0;
};

/// Assigns the fastest nodes, as many as the plan needs. The plan must be feasible, and
/// all nodes of the cluster known.
AssignedNodes assign_nodes(const Problem& problem, const ParallelPlan& plan, const DrawRange& range,
                           const SamplerOptions& sampler);

/// A table with the columns first_gpu, node, factor, replica, stage.
std::string assignment_csv(const std::vector<NodePosition>& positions);

}  // namespace prismopt
