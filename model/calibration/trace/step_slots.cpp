#include "model/calibration/trace/step_slots.hpp"

#include <algorithm>
#include <limits>

namespace prismopt {

namespace {

/// Where the operations of each step begin and end.
struct StepRange {
    std::int32_t step;
    std::size_t begin, end;
};
std::vector<StepRange> ranges_of(const Trace& trace)
{
    std::vector<StepRange> ranges;
    for (std::size_t i = 0; i < trace.ops.size(); ++i) {
        if (ranges.empty() || ranges.back().step != trace.ops[i].step) {
            ranges.push_back({trace.ops[i].step, i, i});
        }
        ranges.back().end = i + 1;
    }
    return ranges;
}

OperationIdentity identity(const TraceOp& op) { return {op.worker, op.kind, op.sequence}; }

/// Identities in the order of worker and start.
std::vector<OperationIdentity> sorted_identities(const Trace& trace, const StepRange& range)
{
    std::vector<OperationIdentity> result;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        result.push_back(identity(trace.ops[i]));
    }
    std::sort(result.begin(), result.end());
    return result;
}

/// The steps of a trace by what they run.
struct ChosenSteps {
    std::vector<StepRange> usual;      // those with the most frequent set of operations
    std::vector<std::int32_t> others;  // ascending
};

ChosenSteps choose_steps(const Trace& trace)
{
    std::map<std::vector<OperationIdentity>, std::vector<StepRange>> by_shape;
    for (const StepRange& range : ranges_of(trace)) {
        by_shape[sorted_identities(trace, range)].push_back(range);
    }
    const auto usual = std::max_element(by_shape.begin(), by_shape.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
    });
    ChosenSteps chosen;
    for (const auto& [shape, ranges] : by_shape) {
        if (&shape == &usual->first) {
            chosen.usual = ranges;
            continue;
        }
        for (const StepRange& range : ranges) {
            chosen.others.push_back(range.step);
        }
    }
    std::sort(chosen.others.begin(), chosen.others.end());
    return chosen;
}

/// SlotTimes of each operation in the steps, since the step's first start.
std::map<OperationIdentity, std::vector<SlotTimes>> times_by_operation(const Trace& trace,
                                                                       const std::vector<StepRange>& steps)
{
    std::map<OperationIdentity, std::vector<SlotTimes>> times;
    for (const StepRange& range : steps) {
        double first = std::numeric_limits<double>::infinity();
        for (std::size_t i = range.begin; i < range.end; ++i) {
            first = std::min(first, trace.ops[i].start_s);
        }
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const TraceOp& op = trace.ops[i];
            const double start = op.start_s - first;
            times[identity(op)].push_back({start, start + static_cast<double>(op.duration_s)});
        }
    }
    return times;
}

/// Whether two operations start at the same time in most steps.
bool start_together(const std::vector<SlotTimes>& a, const std::vector<SlotTimes>& b)
{
    std::size_t together = 0;
    for (std::size_t t = 0; t < a.size(); ++t) {
        together += a[t].start_s == b[t].start_s ? 1 : 0;
    }
    return 2 * together > a.size();
}

/// Slots in the order of the first step; transfers that start together there and in most steps are one batch.
TimedSlots make_slots(const Trace& trace, const std::vector<StepRange>& steps)
{
    const std::map<OperationIdentity, std::vector<SlotTimes>> times = times_by_operation(trace, steps);
    TimedSlots made;
    const TraceOp* before = nullptr;
    for (std::size_t i = steps.front().begin; i < steps.front().end; ++i) {
        const TraceOp& op = trace.ops[i];
        const std::vector<SlotTimes>& own = times.at(identity(op));
        const bool batched = before != nullptr && before->worker == op.worker &&
                             is_transfer(trace, before->kind) && is_transfer(trace, op.kind) &&
                             start_together(made.times.back(), own);
        if (batched) {
            std::vector<SlotTimes>& batch = made.times.back();
            for (std::size_t t = 0; t < own.size(); ++t) {
                batch[t].end_s = std::max(batch[t].end_s, own[t].end_s);
            }
        } else {
            made.slots.push_back({op.worker, op.kind, op.sequence, op.microbatch, {}});
            made.times.push_back(own);
        }
        made.slot_of[identity(op)] = static_cast<int>(made.slots.size()) - 1;
        before = &op;
    }
    return made;
}

}  // namespace

bool is_transfer(const Trace& trace, int kind)
{
    const OpRole role = trace.kinds[static_cast<std::size_t>(kind)].role;
    return role == OpRole::send || role == OpRole::receive;
}

StepSlots step_slots(const Trace& trace)
{
    if (trace.ops.empty()) {
        return {};
    }
    const ChosenSteps chosen = choose_steps(trace);
    StepSlots result{{}, chosen.others, make_slots(trace, chosen.usual)};
    for (const StepRange& range : chosen.usual) {
        result.steps.push_back(range.step);
    }
    return result;
}

}  // namespace prismopt
