#pragma once

/// What every stage does when in a step, with all durations at their means or as drawn: for people to look at.

#include "model/step/graph/execution_graph.hpp"
#include "model/step/sample/sampler.hpp"

#include <vector>

namespace prismopt {

enum class Activity { forward, backward, input_gradient, weight_gradient, pair, bubble, transfer, gather, reduction, optimizer };

/// Streams of a stage: what happens on one of them does not overlap.
enum class TimelineStream { compute, receive_activations, receive_gradients, exchange };

struct TimelineEvent {
    int stage = 0;
    TimelineStream stream = TimelineStream::compute;
    Activity activity = Activity::bubble;
    int chunk = -1;       // -1: of none
    int microbatch = -1;  // the same
    double start_s = 0.0;
    double end_s = 0.0;
};

/// By stage, and in time on each stream; events that take no time are left out. A pair shows its backward's microbatch.
/// Transfers whose times overlap share a link in full here. With post-validation, what a stage does after the step's length is shown at
/// its beginning, as that of the step before; an event may be cut in two there.
std::vector<TimelineEvent> mean_timeline(const ExecutionGraph& graph);

/// The same of one draw of sample_steps(), with its random numbers: the replica that is the last of those simulated. Ends with that
/// draw's step time. The optimizer starts when all replicas are done.
std::vector<TimelineEvent> draw_timeline(const ExecutionGraph& graph, const NoiseTables& noise, const SamplerOptions& options,
                                         int fleet, int step_of_fleet);

}  // namespace prismopt
