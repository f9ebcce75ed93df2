#pragma once

/// Critical paths of a step, for ranking replicas. docs/methods/sampling.md.

#include "model/step/graph/execution_graph.hpp"

#include <vector>

namespace prismopt {

/// A path through the graph. Its length is the sum of the durations on it.
struct CriticalPath {
    float communication_s = 0.0F;     // transfers and collectives inside ops
    std::vector<float> compute_s;     // [stage], at factor one
    int gathered_chunk = -1;          // chunk whose parameters it waits for at the start; -1: none
    std::vector<int> reduced_chunks;  // gradient collectives at the end
    float ahead_s = 0.0F;             // time by which the step of its last stage began before time zero
};

/// Returns the paths that are critical as planned, with each stage in turn slower, and on nodes that are
/// known. The longest of them is a lower bound of a replica's step and replaces it when replicas are ranked.
std::vector<CriticalPath> critical_paths(const ExecutionGraph& graph);

}  // namespace prismopt
