#include "model/step/graph/execution_graph.hpp"

#include <algorithm>

namespace prismopt {

int ExecutionGraph::slowest_replicas() const
{
    if (lead_s.empty()) {
        return placement.replicas;
    }
    return placement.coupled * static_cast<int>(std::count(lead_s.begin(), lead_s.end(), 0.0F));
}

double ExecutionGraph::mean_factor(int replica, int stage) const
{
    if (node.empty()) {
        return group_mean;
    }
    const int first = placement.group(replica, stage) * placement.tp;
    double slowest = 0.0;
    for (int place = first / placement.gpus_per_node;
         place <= (first + placement.tp - 1) / placement.gpus_per_node; ++place) {
        slowest = std::max(slowest, drawn(place) ? group_mean : static_cast<double>(node[place]));
    }
    return slowest;
}

}  // namespace prismopt
