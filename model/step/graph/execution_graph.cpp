#include "model/step/graph/execution_graph.hpp"

#include <algorithm>

namespace prismopt {

double ExecutionGraph::mean_factor(int replica, int stage) const
{
    if (node.empty()) {
        return group_mean;
    }
    const int first = placement.group(replica, stage) * placement.tp;
    double slowest = 0.0;
    for (int place = first / placement.gpus_per_node; place <= (first + placement.tp - 1) / placement.gpus_per_node; ++place) {
        slowest = std::max(slowest, drawn(place) ? group_mean : static_cast<double>(node[place]));
    }
    return slowest;
}

}  // namespace prismopt
