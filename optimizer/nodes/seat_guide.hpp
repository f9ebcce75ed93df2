#pragma once

/// How slow replicas are on known nodes, without noise: cheap, so that many seatings can be weighed before one is judged.

#include "model/step/graph/execution_graph.hpp"

#include <map>
#include <span>
#include <vector>

namespace prismopt {

class SeatGuide {
public:
    /// `fastest`: the least factor.
    SeatGuide(const ExecutionGraph& graph, float fastest);

    /// Sum over the replicas that these first places serve in full, of a high power of their step over that on the fastest nodes: one that
    /// is slower by some per cent outweighs many others, as it does in the p99 of the slowest.
    double operator()(std::span<const float> nodes);

private:
    /// Of a replica of graph_, as a share of the step on the fastest nodes.
    double step(int replica);

    ExecutionGraph graph_;
    double fastest_s_ = 1.0;
    std::map<std::vector<double>, double> known_;  // factors by stage: the step
};

}  // namespace prismopt
