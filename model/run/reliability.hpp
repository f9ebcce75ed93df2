#pragma once

/// Failures of machines, checkpoints and spares: the [reliability] part of a scenario.

#include "model/base/names.hpp"
#include "model/base/units.hpp"
#include "model/plan/recovery.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Family of the gaps between failures of one cause. Exponential gaps (cv 1) are a Poisson process; a cv
/// above one means clusters; constant gaps (cv 0) a timetable.
enum class GapFamily { exponential, gamma, weibull, constant };
template <>
inline constexpr auto names_of<GapFamily> =
    std::to_array<Named<GapFamily>>({{GapFamily::exponential, "exponential"},
                                     {GapFamily::gamma, "gamma"},
                                     {GapFamily::weibull, "weibull"},
                                     {GapFamily::constant, "constant"}});
/// Distribution of the gaps between the failures of one cause on `nodes` nodes, or, if that
/// is zero, of a job of any size.
struct GapDistribution {
    GapFamily family = GapFamily::exponential;
    double cv = 1.0;
    int nodes = 0;
};

/// Unit of a failure rate: per node in use, per GPU in use, per unit of a tier in use
/// (a rack, a domain, a pod), or per job.
enum class RateOf { node, gpu, unit, job };

/// One cause of failures.
struct Cause {
    std::string name;
    PerSecond rate;
    // standard deviation of what is known of the rate, over the rate: gamma, drawn once per run
    double rate_cv = 0.0;
    RateOf of = RateOf::node;
    std::string tier;    // of rates per unit: the cluster's tier
    int unit_nodes = 1;  // nodes in one unit of it, all of which a failure takes
    GapDistribution gaps;
    Seconds detection;         // until the failure is detected
    Seconds restart;           // until the job trains again, once all nodes are available
    Seconds repair;            // mean, until the node is a spare again; zero: no node leaves the job
    double repair_cv = 1.0;    // lognormal
    double memory_kept = 0.0;  // probability that checkpoints in memory survive it
    bool planned = false;      // a checkpoint is written first, so no work is lost
};

/// Way of writing checkpoints to storage. Blocking: training stops during the write. Asynchronous: it stops
/// for a snapshot only, and the checkpoint counts when it has been written.
enum class CheckpointWrite { blocking, asynchronous };
template <>
inline constexpr auto names_of<CheckpointWrite> = std::to_array<Named<CheckpointWrite>>(
    {{CheckpointWrite::blocking, "blocking"}, {CheckpointWrite::asynchronous, "asynchronous"}});

/// Rule for the checkpoint interval if none is given. Formulas and sources: failure_model.hpp.
enum class IntervalRule { young, daly, optimal };
template <>
inline constexpr auto names_of<IntervalRule> = std::to_array<Named<IntervalRule>>(
    {{IntervalRule::young, "young"}, {IntervalRule::daly, "daly"}, {IntervalRule::optimal, "optimal"}});

/// Checkpoint copies in the memory of other nodes, in addition to storage (Wang et al., GEMINI, SOSP 2023).
/// Cause::memory_kept is the probability that they survive a failure.
struct MemoryCheckpoints {
    Seconds interval;  // zero: none
    Seconds stall;     // stop of training per copy
};

/// Slow change of the speed of the whole job: an Ornstein-Uhlenbeck process of mean one.
struct Drift {
    double cv = 0.0;
    Seconds time;  // correlation time
};

inline constexpr int enough_spares = -1;  // unlimited

/// Failures, checkpoints and spares of a cluster.
struct Reliability {
    // per node, exponential gaps: a first cause, named "node failure"; zero: none
    PerSecond node_failure_rate;
    Seconds restart;              // of that cause
    Seconds checkpoint_interval;  // productive time between writes; zero: by `interval_rule`
    Seconds checkpoint_write;     // time until a checkpoint is in storage
    std::vector<Cause> causes{};  // in addition to node_failure_rate
    IntervalRule interval_rule = IntervalRule::young;
    CheckpointWrite write = CheckpointWrite::blocking;
    Seconds snapshot{};  // of asynchronous writes
    MemoryCheckpoints memory{};
    int spares = enough_spares;  // nodes that replace failed ones
    // cv of the nodes' rates, gamma: counts by node are negative binomial; zero: all equal
    double node_cv = 0.0;
    Drift drift{};
    Recovery recovery = Recovery::restart;
    // from detection until a job with a ready hot spare trains again, in place of a restart; or one with
    // fewer replicas
    Seconds switch_time{};
};

/// Returns all causes of failures, `node_failure_rate` first if it is not zero.
std::vector<Cause> all_causes(const Reliability& reliability);

}  // namespace prismopt
