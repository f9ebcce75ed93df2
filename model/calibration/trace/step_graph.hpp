#pragma once

/// The dependencies of a job's step, found from its traces.

#include "model/calibration/trace/trace.hpp"

#include <cstddef>
#include <vector>

namespace prismopt {

/// Operations of one worker that start together: one operation, or transfers issued as one batch.
struct StepSlot {
    int worker = 0;
    int kind = 0;  // of the first of them
    int sequence = 0;
    int microbatch = -1;
    std::vector<int> after;  // slots whose ends it waits for
};

/// A step: slots in an order in which each comes after all that it waits for. Times by slot and step.
///
/// A slot starts when all that it waits for has ended, and a launch gap later: `start = max(end of after) + gap`,
/// `end = start + duration`. It waits for what ended before it on its own worker; a transfer also for what its peer waits for; any
/// other slot also for what its counterparts wait for on all workers, on those of its replica, or on those of one stage, where that
/// explains its starts better: the gap then varies less than half as much from step to step.
struct StepGraph {
    std::vector<StepSlot> slots;
    std::vector<std::int32_t> steps;   // those with the usual operations
    std::vector<std::int32_t> others;  // those with more, or fewer, which are left out
    std::vector<float> gap_s;          // [slot * steps.size() + step]; of slots that wait for nothing: since the step's start
    std::vector<float> duration_s;

    float gap(std::size_t slot, std::size_t step) const { return gap_s[slot * steps.size() + step]; }
    float duration(std::size_t slot, std::size_t step) const { return duration_s[slot * steps.size() + step]; }
};

/// Of a trace sorted by start. No slots and no steps where the trace is empty, or where clocks disagree so much that waits form a circle.
StepGraph step_graph(const Trace& trace);

/// Seconds from the first start to the last end.
double replay(const StepGraph& graph, const std::vector<float>& gap_s, const std::vector<float>& duration_s);

}  // namespace prismopt
