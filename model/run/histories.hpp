#pragma once

/// Histories of failures: converts productive times of runs to wall-clock times, many runs side by side.
/// docs/methods/failures.md.

#include "model/base/random.hpp"
#include "model/run/failure_model.hpp"
#include "model/run/failure_tables.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Part of a run: consecutive steps on one number of nodes.
struct RunSegment {
    FailureModel model;
    int gpus = 0;
    std::vector<double> productive_s;  // [history]
};

/// Mean losses of a run to one cause.
struct CauseLoss {
    double failures = 0.0;
    double rework_gpu_s = 0.0;   // work since the last checkpoint, repeated
    double down_gpu_s = 0.0;     // detection and restart
    double waiting_gpu_s = 0.0;  // for a node while all spares are in repair
};

/// Sampled histories and their mean losses.
struct Histories {
    std::vector<double> seconds;    // [history]: wall-clock time of the whole run
    std::vector<CauseLoss> cause;   // [index in all_causes()]
    double checkpoint_gpu_s = 0.0;  // mean time for which training stops for checkpoints
};

/// Draws one history per fleet 0 ... of the parts, on all threads.
///
/// Clocks of causes run while the job trains or restarts, and stop while a failure is not yet detected or no
/// node is available. A failure during a restart starts its own restart, and training continues when both are
/// complete. The residual gap continues in the next part, in proportion to the rates; parts end with a
/// checkpoint without cost. A failed node under repair is replaced by the spare that is ready first; if none
/// is ready, the job waits. All spares are ready at the start.
///
/// Draws are keyed by (history, part, number of the failure), so designs share them and the order of
/// work does not matter. Not modelled: failing spares; the loss of a copy in memory that training was
/// restored from before it is in storage.
Histories sample_histories(std::span<const RunSegment> segments, std::size_t causes, FailureTables& tables,
                           std::uint64_t seed, Purpose purpose);

}  // namespace prismopt
