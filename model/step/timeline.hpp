#pragma once

/// Timeline of a step for display: events of each stage, at mean durations or for one draw.

#include <vector>

namespace prismopt {

struct ExecutionGraph;
struct NoiseTables;
struct SamplerOptions;

enum class Activity {
    forward,
    backward,
    input_gradient,
    weight_gradient,
    pair,
    bubble,
    transfer,
    gather,
    reduction,
    optimizer
};

/// Streams of a stage. Events on one stream do not overlap.
enum class TimelineStream { compute, receive_activations, receive_gradients, exchange };

/// One event.
struct TimelineEvent {
    int stage = 0;
    TimelineStream stream = TimelineStream::compute;
    Activity activity = Activity::bubble;
    int chunk = -1;       // -1: none
    int microbatch = -1;  // -1: none
    double start_s = 0.0;
    double end_s = 0.0;
};

/// Returns the events of the noise-free step, by stage, and in time on each stream; events that take no time
/// are omitted. A pair shows the microbatch of its backward pass. Overlapping transfers are shown as if each
/// had its own link. With post-validation, events of a stage after the end of the step are shown at its
/// beginning, as of the previous step; one may be split in two.
std::vector<TimelineEvent> mean_timeline(const ExecutionGraph& graph);

/// Returns the events of one draw of sample_steps(), with its random numbers, for the last simulated replica.
/// They end with that draw's step time. The optimizer starts when all replicas are done.
std::vector<TimelineEvent> draw_timeline(const ExecutionGraph& graph, const NoiseTables& noise,
                                         const SamplerOptions& options, int fleet, int step_of_fleet);

}  // namespace prismopt
