#pragma once

/// Dependency graph of a job's step, inferred from its traces. docs/methods/calibration.md.

#include "model/calibration/trace/trace.hpp"

#include <cstddef>
#include <vector>

namespace prismopt {

/// One slot of a step: an operation of one worker, or transfers issued as one batch.
struct StepSlot {
    int worker = 0;
    int kind = 0;  // of its first operation
    int sequence = 0;
    int microbatch = -1;
    std::vector<int> after;  // slots that it waits for
};

/// Graph of a step: slots, each after all that it waits for, with times by slot and step.
///
///     start = max(end of after) + gap,   end = start + duration
///
/// A slot waits for the slots that ended before it on its own worker; a transfer also for the predecessors of
/// its peer. Any other slot also waits for the predecessors of its counterparts on all workers, on those of
/// its replica, or on those of one stage, if this explains its start times better: the gap then varies less
/// than half as much from step to step.
struct StepGraph {
    std::vector<StepSlot> slots;
    std::vector<std::int32_t> steps;   // steps with the usual operations
    std::vector<std::int32_t> others;  // steps with more or fewer operations; excluded
    // [slot * steps.size() + step]; for slots that wait for nothing: since the step's start
    std::vector<float> gap_s;
    std::vector<float> duration_s;

    float gap(std::size_t slot, std::size_t step) const { return gap_s[slot * steps.size() + step]; }
    float duration(std::size_t slot, std::size_t step) const
    {
        return duration_s[slot * steps.size() + step];
    }
};

/// Infers the graph from a trace sorted by start. Empty if the trace is empty, or if clocks disagree so much
/// that waits form a cycle.
StepGraph step_graph(const Trace& trace);

/// Returns the seconds from the first start to the last end of a step with these gaps and durations.
double replay(const StepGraph& graph, const std::vector<float>& gap_s, const std::vector<float>& duration_s);

}  // namespace prismopt
