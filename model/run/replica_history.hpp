#pragma once

/// Histories of jobs that continue with fewer data-parallel replicas while nodes are
/// missing. docs/methods/failures.md.

#include "model/run/failure_model.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace prismopt {

/// What is drawn for one failure.
struct FailureDraw {
    double repair_s = 0.0;
    double copies = 0.0;  // uniform: whether copies in memory survive
    double place = 0.0;   // uniform: which unit fails
    double gap_s = 0.0;   // until the cause strikes again
};
using DrawFailure = std::function<FailureDraw(std::size_t source, std::uint32_t failure)>;

/// Seconds lost to one source of failures.
struct SourceLoss {
    double failures = 0.0;
    double rework_s = 0.0;
    double down_s = 0.0;     // detection, restart or switch
    double waiting_s = 0.0;  // for nodes, and what missing replicas would have done
};

/// One history: its state, and the losses of the part that was run.
struct ReplicaHistory {
    double wall_s = 0.0;
    std::vector<double> in_repair;  // seconds of the wall clock at which failed nodes are back
    std::vector<double> due_s;      // [source]: running time until it strikes
    std::vector<SourceLoss> loss;   // [source]
    double stalls_s = 0.0;
};

/// Runs a part of a job with `model.replicas` replicas to its end, event by event.
///
/// Nodes in repair beyond the spares are missing. The others form as many whole replicas as they suffice
/// for, which share the global batch: the speed is in proportion to their number. If none is whole, the
/// job waits for one, and restarts.
void run_with_fewer_replicas(const FailureModel& model, double productive_s, const DrawFailure& draw,
                             ReplicaHistory& history);

}  // namespace prismopt
