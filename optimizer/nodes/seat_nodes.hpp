#pragma once

/// The nodes of a known cluster, seated for the least p99 of a plan's step.

#include "model/predictor.hpp"
#include "model/step/sample/sampler.hpp"

#include <string>
#include <vector>

namespace prismopt {

struct NodeSeat {
    int first_gpu = 0;  // in the order of placement
    int node = 0;       // of the cluster's list
    double factor = 1.0;
    int replica = 0;  // of its first GPU
    int stage = 0;
};

struct SeatedNodes {
    std::vector<NodeSeat> seats;
    std::vector<double> factors;  // [node]: those of the seats, in their order; then of the nodes left over
    double given_p99_s = 0.0;     // of the first phase's step, in the order that the plan says
    double least_p99_s = 0.0;     // as seated; by the same draws, which chose it
    double bound_p99_s = 0.0;     // by the same draws: no seating of the cluster's nodes has less
    bool exact = false;           // all ways were judged, not only moves
    bool cut = false;             // the moves ended because as many ways were judged as may be
    bool work_limits = false;     // these are fewer than usual: each takes long
    std::size_t judged = 0;
};

/// The fastest nodes sit, as many as the plan fills; the others stand by. The plan must be feasible, and the cluster's nodes known.
SeatedNodes seat_nodes(const Problem& problem, const ParallelPlan& plan, const DrawRange& range, const SamplerOptions& sampler);

/// A table with the columns first_gpu, node, factor, replica, stage.
std::string seats_csv(const std::vector<NodeSeat>& seats);

}  // namespace prismopt
