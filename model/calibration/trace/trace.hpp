#pragma once

/// Measured operations of a training job, whatever file they come from.

#include "model/calibration/faults.hpp"
#include "model/distribution/variability.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {

/// What an operation does, as far as dependencies go.
enum class OpRole : std::uint8_t { compute, send, receive, collective };

struct OpKind {
    std::string name;
    OpRole role = OpRole::compute;
    KernelClass kernel = KernelClass::gemm;  // whose residual law it informs
};

/// Role and class by the words that frameworks put into names: "forward-send", "ncclDevKernel_ReduceScatter", "flash_fwd".
OpKind op_kind(const std::string& name);

/// One operation. 32 bytes: a trace of a gigabyte has twenty million.
struct TraceOp {
    double start_s = 0.0;
    float duration_s = 0.0F;
    std::int32_t step = 0;
    std::int32_t worker = 0;    // index in Trace::workers
    std::int32_t sequence = 0;  // which one of its kind, worker and step
    std::int16_t microbatch = -1;
    std::uint16_t kind = 0;  // index in Trace::kinds
    std::uint32_t line = 0;  // of the file; see Trace::rows
};

/// Who runs operations: a replica's pipeline stage, or a GPU where nothing is known of stages.
struct Worker {
    int dp = 0;
    int stage = 0;
    auto operator<=>(const Worker&) const = default;
};

struct Trace {
    std::string source;         // file names, for provenance
    std::string rows = "line";  // what TraceOp::line counts in the file: lines, or a JSON file's kernels
    std::vector<OpKind> kinds;
    std::vector<Worker> workers;
    std::vector<TraceOp> ops;
    std::vector<Fault> faults;

    void fault(const std::string& reason, std::uint32_t line);
    /// Indices of the name or worker, added where new.
    std::uint16_t kind_index(const std::string& name);
    std::int32_t worker_index(Worker worker);

private:
    std::vector<std::pair<std::string, std::uint16_t>> kind_order_;  // sorted
    std::vector<std::pair<Worker, std::int32_t>> worker_order_;
};

/// Operations sorted by step, worker and start.
void sort_by_start(Trace& trace);

/// Takes operations out of a sorted trace, and counts them as faults, that no job can have had: longer than is
/// credible of their kind in a step. How many.
std::size_t leave_out_absurd(Trace& trace);

/// What makes a sorted trace useless, or nothing: one operation twice (two jobs in one file), step numbers that jump to steps of
/// altogether other times (two jobs, too), clocks that run backwards.
struct TraceProblem {
    std::uint32_t line = 0;
    std::string text;
};
std::vector<TraceProblem> problems(const Trace& trace);

/// Steps of a sorted trace that start before the one before them did, where steps otherwise follow one another (and do not each count from
/// zero). Nothing rests on the time between steps, so such a trace is of use.
std::vector<TraceProblem> clock_set_back(const Trace& trace);

/// Operations of computing without a microbatch among others that have one, by kind: some of a kind, or all of one of forward and backward.
/// They are taken as operations of the whole step.
std::vector<TraceProblem> without_microbatch(const Trace& trace);

/// Seconds from the first start to the last end of each step; steps in order.
struct StepTime {
    std::int32_t step = 0;
    double seconds = 0.0;
};
std::vector<StepTime> step_times(const Trace& trace);

/// The same within each worker, the longest of them, of a sorted trace: clocks of profiled ranks differ, and part.
std::vector<StepTime> busiest_worker_times(const Trace& trace);

/// The operations of some steps only.
Trace steps_of(const Trace& trace, const std::vector<std::int32_t>& steps);

}  // namespace prismopt
