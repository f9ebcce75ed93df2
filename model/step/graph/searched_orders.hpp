#pragma once

/// Orders made for a plan's times and a memory limit, instead of by a rule.

#include "model/step/graph/execution_graph.hpp"

#include <variant>

namespace prismopt {

/// What a stage may hold at once, in activations of a (chunk, microbatch).
struct HeldLimit {
    int most = 1;
    double for_weights = 1.0;  // share that the gradient of the input leaves for that of the weights
};

/// Choices of the greedy rule, each of which is right for some times.
struct GreedyFlags {
    double ahead = 1.0;  // forwards before the first backward, by stage to the end of the pipeline (schedules of one chunk) ...
    int more_ahead = 0;  // ... and more, as far as the limit allows
    Schedule rule = Schedule::zb_v;  // whose forwards and input gradients to take (schedules of two chunks in a vee)
    double filled_gap = 1.0;         // a gap takes a weight gradient when it is this share of one or longer
};

/// The fewest (chunk, microbatch) between forward and weight gradient with which all stages can run some greedy_orders().
int least_held(const ScheduleShape& shape);

/// Forwards and input gradients in the order of a rule, or with numbers of forwards ahead; weight gradients go to
/// the gaps before them, or where the limit leaves no room, or to the end. After Qi et al., arXiv 2401.10241, section 3.1.
TaskOrders greedy_orders(const ExecutionGraph& graph, const HeldLimit& limit, const GreedyFlags& flags);

/// The shortest step without noise of the rules that split the backward, have the same chunks and keep to the limit, and of the
/// greedy orders of all flags. Or why there is none: the schedule does not split its backward, or the limit is below the least.
std::variant<PartOrders, Infeasible> searched_orders(const ExecutionGraph& graph, const HeldLimit& limit);

}  // namespace prismopt
