#pragma once

/// Which ops decide the length of a step when a stage is slow.

#include "model/step/graph/execution_graph.hpp"

#include <vector>

namespace prismopt {

/// A path through the graph: its length is the sum of what lies on it.
struct CriticalPath {
    float communication_s = 0.0F;    // transfers and collectives inside ops
    std::vector<float> compute_s;    // [stage], at factor one
    int gathered_part = -1;          // waits for this part's parameters at the start; -1: does not
    std::vector<int> reduced_parts;  // gradient collectives at the end
    float ahead_s = 0.0F;            // of the stage where it ends: its step began before time zero
};

/// Paths that are critical when one stage is slow, and on nodes that are known. The longest of them bounds a replica's step from below and stands in for it
/// when replicas are compared.
std::vector<CriticalPath> critical_paths(const ExecutionGraph& graph);

}  // namespace prismopt
