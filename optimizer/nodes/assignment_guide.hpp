#pragma once

/// Noise-free step times of replicas on known nodes: a cheap guide that ranks many
/// assignments before one is evaluated.

#include "model/step/graph/execution_graph.hpp"

#include <map>
#include <span>
#include <vector>

namespace prismopt {

class AssignmentGuide {
public:
    /// `fastest`: the smallest factor.
    AssignmentGuide(const ExecutionGraph& graph, float fastest);

    /// Sum of a high power of the relative step time (1: fastest nodes) over the replicas that lie
    /// completely in these first places. A replica that is a few percent slower thus outweighs many others,
    /// as in the p99 of the slowest replica.
    double operator()(std::span<const float> nodes);

private:
    /// Step time of a replica of graph_, relative to the step on the fastest nodes.
    double step(int replica);

    ExecutionGraph graph_;
    double fastest_s_ = 1.0;
    std::map<std::vector<double>, double> known_;  // factors by stage: the step
};

}  // namespace prismopt
