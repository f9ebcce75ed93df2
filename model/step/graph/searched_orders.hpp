#pragma once

/// Search of task orders for the times of a plan and a memory limit. docs/methods/step-graph.md.

#include "model/schedule/given_orders.hpp"
#include "model/step/graph/execution_graph.hpp"

#include <variant>

namespace prismopt {

/// Limit of the activations that a stage holds at once, in units of one (chunk, microbatch) pair.
struct HeldLimit {
    int most = 1;
    double for_weights = 1.0;  // share held after the gradient of the input for that of the weights
};

/// Parameters of the greedy rule; the best values depend on the times.
struct GreedyFlags {
    // forwards before the first backward, per stage to the end of the pipeline (schedules of one chunk)
    double ahead = 1.0;
    int more_ahead = 0;  // additional forwards ahead, as far as the limit allows
    // rule for forwards and input gradients (schedules of two chunks in a vee)
    Schedule rule = Schedule::zb_v;
    double filled_gap = 1.0;  // a gap takes a weight gradient if it is this share of one or longer
};

/// Returns the smallest limit with which all stages can run some greedy_orders().
int least_held(const ScheduleShape& shape);

/// Returns greedy orders: forwards and input gradients in the order of a rule, or with numbers of forwards
/// ahead; weight gradients fill the gaps before them, run when the limit requires it, or run at the end.
/// After Qi et al., arXiv 2401.10241, section 3.1.
TaskOrders greedy_orders(const ExecutionGraph& graph, const HeldLimit& limit, const GreedyFlags& flags);

/// Returns the orders with the shortest noise-free step, among the rules that split the backward pass, have
/// the same chunks and stay within the limit, and the greedy orders of all parameters. Infeasible if the
/// schedule does not split its backward pass, or if the limit is below least_held().
std::variant<ChunkOrders, Infeasible> searched_orders(const ExecutionGraph& graph, const HeldLimit& limit);

}  // namespace prismopt
