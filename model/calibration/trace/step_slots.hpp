#pragma once

/// Slots of a job's step: the operations of its usual steps, with their times.

#include "model/calibration/trace/step_graph.hpp"
#include "model/calibration/trace/trace.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace prismopt {

/// Seconds since the step's first start.
struct SlotTimes {
    double start_s;
    double end_s;
};

using OperationIdentity = std::tuple<int, int, int>;  // worker, kind, sequence

/// Slots before it is known what they wait for.
struct TimedSlots {
    std::vector<StepSlot> slots;
    std::vector<std::vector<SlotTimes>> times;  // [slot][step]
    std::map<OperationIdentity, int> slot_of;
};

/// A trace's steps by what they run, and the slots of the usual ones.
struct StepSlots {
    std::vector<std::int32_t> steps;   // steps with the most frequent set of operations
    std::vector<std::int32_t> others;  // ascending
    TimedSlots timed;
};

bool is_transfer(const Trace& trace, int kind);

/// Returns the slots of a trace sorted by start, in the order of the first usual step. Transfers that start
/// together there and in most steps are one slot.
StepSlots step_slots(const Trace& trace);

}  // namespace prismopt
