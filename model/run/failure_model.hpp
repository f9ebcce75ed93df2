#pragma once

/// The failures and checkpoints of one job: a scenario's reliability at the job's size, in seconds and per second.

#include "model/plan/plan.hpp"
#include "model/run/reliability.hpp"

#include <limits>
#include <vector>

namespace prismopt {

/// What of a job its failures depend on.
struct Job {
    int nodes = 0;
    int gpus = 0;
    Seconds checkpoint_interval{};  // zero: as the reliability says
    int spares = as_configured;     // as_configured: same
};

struct FailureModel {
    /// One cause at this size; causes that never happen are left out.
    struct Source {
        double rate = 0.0;  // of the whole job
        double detection_s = 0.0;
        double restart_s = 0.0;
        double repair_s = 0.0;
        double repair_cv = 0.0;
        double memory_kept = 0.0;
        bool planned = false;
        bool by_node = true;  // its rate is the sum of the nodes' own
        GapLaw gaps{};
        std::size_t cause = 0;  // its place in all_causes()
    };
    std::vector<Source> sources;
    double interval_s = std::numeric_limits<double>::infinity();  // productive time between checkpoints
    double stall_s = 0.0;                                         // that training stands still for each
    double lag_s = 0.0;                                           // from there until it is in storage
    double memory_interval_s = 0.0;                               // zero: no copies in memory
    double pace = 1.0;                                            // time per productive time, for their stalls
    int spares = enough_spares;
    double node_cv = 0.0;  // of the sum of the nodes' rates

    /// Of unplanned failures, a second.
    double rate() const;
    /// Of those that no copy in memory outlives: they go back to storage.
    double storage_rate() const;
    /// The job never ends in practice: failures come much faster than checkpoints and restarts.
    bool hopeless() const;
    /// One Poisson process, blocking writes, nothing to wait for: the exact renewal below holds.
    bool memoryless() const;
};

FailureModel failure_model(const Reliability& reliability, const Job& job);

/// The rule's interval for the failures that go back to storage, where writes leave room for it: a write ends before the next
/// begins. Infinite where nothing does.
double interval_by(IntervalRule rule, const FailureModel& model);

/// Checkpoint intervals for a rate of failures and a stall. Young: sqrt(2 stall / rate) (Commun. ACM 17 (1974) 530-531). Daly:
/// his higher-order form (Future Gener. Comput. Syst. 22 (2006) 303-312, eq. 37). Optimal: the exact minimum of
/// (e^(rate (interval + stall)) - 1) / interval, (1 + W(-e^(-1 - rate stall))) / rate with Lambert's W (same, section 4).
double young_interval(double rate, double stall_s);
double daly_interval(double rate, double stall_s);
double optimal_interval(double rate, double stall_s);

/// Mean training time for a given productive time of a memoryless model: exact renewal with exponential gaps, for whole checkpoint
/// intervals: (e^(rate (interval + stall)) - 1) e^(rate restart) (1 / rate + detection) each, with means over causes; the rest of
/// the last interval counts at its own length. Source: Daly 2006, eq. 13, for one cause that is known at once. Restarts side by side
/// are a queue with a server for each, which is busy for (e^(rate restart) - 1) / rate, whatever their law (Takacs, Introduction
/// to the Theory of Queues, 1962, ch. 3.2).
double expected_training_time(double productive_s, const FailureModel& model);

/// At most the mean training time, of any model: as above where that holds; else work, stalls, the detection of `time * rate`
/// failures of each cause, for a renewal process that has run for long has as many on average (Cox, Renewal Theory, 1962, section
/// 4), of timetables one less, and the restarts of those of Poisson processes: of others, many may strike while the job restarts
/// already. Lost work and waiting are left out. Of a run in parts the sum is, as clocks go on from part to part.
double least_mean_training_time(double productive_s, const FailureModel& model);

/// Effective training time ratio to first order in the rate: (1 - rate (down + interval / 2)) / (1 + stall / interval).
/// Source: Kokolis et al., arXiv 2410.21680.
double first_order_ettr(const FailureModel& model);

}  // namespace prismopt
