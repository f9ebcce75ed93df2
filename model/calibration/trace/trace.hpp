#pragma once

/// Traces: measured operations of a training job, independent of the file format.

#include "model/calibration/records/faults.hpp"
#include "model/calibration/records/kernel_names.hpp"
#include "model/distribution/variability.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace prismopt {

/// One operation. 32 bytes, as a trace of a gigabyte has twenty million.
struct TraceOp {
    double start_s = 0.0;
    float duration_s = 0.0F;
    std::int32_t step = 0;
    std::int32_t worker = 0;    // index in Trace::workers
    std::int32_t sequence = 0;  // number within its kind, worker and step
    std::int16_t microbatch = -1;
    std::uint16_t kind = 0;  // index in Trace::kinds
    std::uint32_t line = 0;  // of the file; see Trace::rows
};

/// Worker that runs operations: a replica's pipeline stage, or a GPU if stages are unknown.
struct TraceWorker {
    int dp = 0;
    int stage = 0;
    auto operator<=>(const TraceWorker&) const = default;
};

/// A trace.
struct Trace {
    std::string source;         // file names, for provenance
    std::string rows = "line";  // unit of TraceOp::line: lines, or the kernels of a JSON file
    std::vector<OpKind> kinds;
    std::vector<TraceWorker> workers;
    std::vector<TraceOp> ops;
    std::vector<Fault> faults;

    void fault(FaultReason reason, std::uint32_t line, const std::string& of = {});
    /// Returns the index of a name or worker, adding it if it is new.
    std::uint16_t kind_index(const std::string& name, const KernelNames& names);
    std::int32_t worker_index(TraceWorker worker);

private:
    std::vector<std::pair<std::string, std::uint16_t>> kind_order_;  // sorted
    std::vector<std::pair<TraceWorker, std::int32_t>> worker_order_;
};

/// Sorts operations by step, worker and start.
void sort_by_start(Trace& trace);

/// Removes operations longer than credible for their kind in a step from a sorted trace, and counts them
/// as faults. Returns their number.
std::size_t exclude_absurd(Trace& trace);

/// Steps that follow one another: nine tenths of them take from low_s to high_s, the
/// operations of a step together.
struct StepsOfJob {
    std::int32_t first = 0;
    std::int32_t last = 0;
    double low_s = 0.0;
    double high_s = 0.0;
};
/// Step numbers jump to steps at entirely different times: two jobs in one file.
struct JobsInOneFile {
    StepsOfJob before;
    StepsOfJob after;
};
/// A worker has an operation twice in a step: two jobs in one file.
struct OperationTwice {
    std::string operation;
    std::int32_t number = 0;
    std::int32_t step = 0;
    std::uint32_t first_line = 0;
};
/// An operation starts before the one that precedes it.
struct ClockRunsBackwards {
    std::string operation;
    std::int32_t number = 0;
    std::int32_t step = 0;
    std::int32_t number_before = 0;
};
/// A step starts before the step that precedes it.
struct ClockSetBack {
    std::int32_t step = 0;
    std::int32_t step_before = 0;
};
/// Operations of a kind without a microbatch.
struct NoMicrobatch {
    std::string operation;
    std::size_t without = 0;
    std::size_t all = 0;
};

/// A problem of a trace, with its line.
struct TraceProblem {
    std::uint32_t line = 0;
    std::variant<JobsInOneFile, OperationTwice, ClockRunsBackwards, ClockSetBack, NoMicrobatch> what;
};
/// Returns the problems that make a sorted trace useless: duplicate operations (two jobs in one file), step
/// numbers that jump to steps at entirely different times (also two jobs), clocks that run backwards.
std::vector<TraceProblem> problems(const Trace& trace);

/// Returns the steps of a sorted trace that start before the step before them, if steps otherwise
/// follow one another (and do not each count from zero). Nothing depends on the time between
/// steps, so such a trace is usable.
std::vector<TraceProblem> clock_set_back(const Trace& trace);

/// Returns the compute operations without a microbatch among others that have one, by kind: some of a kind,
/// or all forward or all backward operations. They count as operations of the whole step.
std::vector<TraceProblem> without_microbatch(const Trace& trace);

/// Kinds whose names match no row of the table of names, longest first, with their share
/// of the time of all operations.
struct UnknownNames {
    double share = 0.0;
    std::vector<std::string> names;
};
UnknownNames unknown_names(const Trace& trace);

/// Time of one step.
struct TraceStepTime {
    std::int32_t step = 0;
    double seconds = 0.0;
};
/// Returns the seconds from the first start to the last end of each step, in the order of steps.
std::vector<TraceStepTime> step_times(const Trace& trace);

/// Returns the longest time of one worker for each step of a sorted trace, as clocks of
/// profiled ranks differ and drift apart.
std::vector<TraceStepTime> busiest_worker_times(const Trace& trace);

/// Returns the operations of some steps only.
Trace steps_of(const Trace& trace, const std::vector<std::int32_t>& steps);

}  // namespace prismopt
