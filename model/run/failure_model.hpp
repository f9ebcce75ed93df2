#pragma once

/// Failures and checkpoints of one job: a scenario's reliability at the job's size, in seconds and per
/// second. docs/methods/failures.md.

#include "model/plan/plan.hpp"
#include "model/run/reliability.hpp"

#include <limits>
#include <vector>

namespace prismopt {

/// Properties of a job that its failures depend on.
struct JobSize {
    int nodes = 0;
    int gpus = 0;
    Seconds checkpoint_interval{};  // zero: as the reliability has it
    int spares = as_configured;     // as_configured: as the reliability has it
    int replicas = 1;               // groups of GPUs that hold the whole network
    bool state_in_each = false;     // each of them can continue without the others
};

/// Returns the size of a plan's job on so many nodes. A replica of the network is `dp`'s, or
/// several of those that share experts or embedding tables. Each holds the optimizer's state unless
/// it is sharded beyond the replica.
JobSize job_size(const ParallelPlan& plan, int nodes);

/// Reliability at a job's size.
struct FailureModel {
    /// One cause at this size; causes with rate zero are omitted.
    struct Source {
        double rate = 0.0;  // of the whole job
        double detection_s = 0.0;
        double restart_s = 0.0;
        double repair_s = 0.0;
        double repair_cv = 0.0;
        double memory_kept = 0.0;
        bool planned = false;
        bool by_node = true;  // its rate is the sum of the nodes' rates
        GapDistribution gaps{};
        std::size_t cause = 0;  // index in all_causes()
        double rate_cv = 0.0;   // uncertainty of the rate
        int units = 1;          // of which one fails
        int unit_nodes = 1;     // nodes of the job that a failure takes
        int last_unit_nodes = 1;
        double switch_s = std::numeric_limits<double>::infinity();  // in place of a restart, with hot spares

        /// Returns the time to resume training if as many spares are ready as nodes fail.
        double least_restart_s() const { return switch_s < restart_s ? switch_s : restart_s; }
    };
    std::vector<Source> sources;
    double interval_s = std::numeric_limits<double>::infinity();  // productive time between checkpoints
    double stall_s = 0.0;                                         // stop of training per checkpoint
    double lag_s = 0.0;              // from the stop until the checkpoint is in storage
    double memory_interval_s = 0.0;  // zero: no copies in memory
    double pace = 1.0;               // wall-clock over productive time, due to memory copies
    int spares = enough_spares;
    double node_cv = 0.0;  // cv of the sum of the nodes' rates
    int nodes = 0;
    int replicas = 1;            // more than one: the job continues with fewer while nodes are missing
    bool state_in_each = false;  // a replica that survives a failure holds the state

    /// Returns the rate of unplanned failures, per second.
    double rate() const;
    /// Returns the rate of unplanned failures that restore from a checkpoint in storage, per second.
    double storage_rate() const;
    /// Returns whether the job practically never ends: failures occur much faster
    /// than checkpoints and restarts.
    bool hopeless() const;
    /// Returns whether expected_training_time() is exact: Poisson processes,
    /// blocking writes, no waiting for nodes.
    bool memoryless() const;
};

/// Returns the failure model of a job.
FailureModel failure_model(const Reliability& reliability, const JobSize& job);

/// Returns the rule's interval for failures that restore from storage, at least the time of a write, so that
/// a write ends before the next begins. Infinite if no failure restores from storage.
double interval_by(IntervalRule rule, const FailureModel& model);

/// Checkpoint interval for a rate of failures and a stall, by Young: sqrt(2 stall / rate)
/// (Commun. ACM 17 (1974) 530-531).
double young_interval(double rate, double stall_s);
/// ... by Daly, in the higher-order form (Future Gener. Comput. Syst. 22 (2006) 303-312, eq. 37).
double daly_interval(double rate, double stall_s);
/// ... at the exact minimum of (e^(rate (interval + stall)) - 1) / interval: (1 + W(-e^(-1 - rate stall))) /
/// rate with Lambert's W (Daly 2006, section 4).
double optimal_interval(double rate, double stall_s);

/// Returns the mean training time of a memoryless() model, by exact renewal: each whole checkpoint
/// interval takes (e^(rate (interval + stall)) - 1) e^(rate restart) (1 / rate + detection), with
/// means over causes; the incomplete last interval counts with its actual length. Source: Daly 2006,
/// eq. 13. docs/methods/failures.md.
double expected_training_time(double productive_s, const FailureModel& model);

/// Returns a lower bound of the mean training time of any model: the above if it is exact; otherwise
/// work, stalls, and the detection of the expected number of failures (one less for timetables), with
/// the restarts of Poisson processes. Ignores lost work and waiting. The bounds of the parts of a run
/// add up. docs/methods/failures.md.
double least_mean_training_time(double productive_s, const FailureModel& model);

/// Returns a lower bound of a quantile of the training time over histories: the above without the
/// causes whose failures reach their mean number so seldom that the mean may exceed this
/// quantile. docs/methods/failures.md.
double least_training_time_quantile(double productive_s, const FailureModel& model, double probability);

/// Returns the effective training time ratio to first order in the rate: (1 - rate (down + interval / 2)) /
/// (1 + stall / interval). Source: Kokolis et al., arXiv 2410.21680.
double first_order_ettr(const FailureModel& model);

}  // namespace prismopt
