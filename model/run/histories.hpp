#pragma once

/// Histories of failures: from the productive time of a run to its wall-clock time, many runs side by side.

#include "model/base/random.hpp"
#include "model/run/failure_model.hpp"
#include "model/run/failure_tables.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Steps of the run on one number of nodes, in a row.
struct RunPart {
    FailureModel model;
    int gpus = 0;
    std::vector<double> productive_s;  // [history]
};

/// What one cause took, means of a run.
struct CauseLoss {
    double failures = 0.0;
    double rework_gpu_s = 0.0;   // work done since the last checkpoint, to be done again
    double down_gpu_s = 0.0;     // detection and restart
    double waiting_gpu_s = 0.0;  // for a node, all spares being repaired
};

struct Histories {
    std::vector<double> seconds;    // [history]: of the whole run, by the clock
    std::vector<CauseLoss> cause;   // [place in all_causes()]
    double checkpoint_gpu_s = 0.0;  // mean of a run that training stood still for checkpoints
};

/// One history for each fleet 0 ... of the parts.
///
/// Clocks of causes run while the job trains or restarts: one that strikes in a restart begins its own, and training goes on when
/// both are done. They stand while a failure is not yet known and while no node is there. Each failure draws its cause's next gap.
/// Before the first, clocks have run for long: a cause has rate * t failures in t of running on average, however short. Timetables
/// begin with the run.
/// What is left of a gap counts on in the next part, in proportion to the rates; parts end with a checkpoint that costs nothing.
/// Work goes back to the last checkpoint in storage, or to the last copy in memory where that outlives the cause. A failed node
/// under repair is replaced by the spare that is ready first; none ready: the job waits. All spares are ready at the start.
///
/// Draws are keyed by (history, part, number of the failure), so designs share their luck, and no order of work matters.
/// Left out: spares that fail; that a copy in memory which training went back to may be
/// lost before it is in storage.
Histories sample_histories(std::span<const RunPart> parts, std::size_t causes, FailureTables& tables, std::uint64_t seed,
                           Purpose purpose);

}  // namespace prismopt
