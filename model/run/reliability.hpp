#pragma once

/// How machines fail, and what is done about it: the reliability part of a scenario.

#include "model/base/names.hpp"
#include "model/base/units.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Gaps between the failures of one cause, on `nodes` nodes, or of the whole job whatever its size where that is zero. A coefficient of
/// variation above one: they come in clusters. Exponential gaps (cv 1) make a Poisson process; constant ones (cv 0) a timetable.
enum class GapFamily { exponential, gamma, weibull, constant };
template <>
inline constexpr auto names_of<GapFamily> = std::to_array<Named<GapFamily>>({{GapFamily::exponential, "exponential"},
                                                                             {GapFamily::gamma, "gamma"},
                                                                             {GapFamily::weibull, "weibull"},
                                                                             {GapFamily::constant, "constant"}});
struct GapLaw {
    GapFamily family = GapFamily::exponential;
    double cv = 1.0;
    int nodes = 0;
};

/// What a rate is counted by: each node in use, each GPU in use, or the job as a whole.
enum class RateOf { node, gpu, job };

struct Cause {
    std::string name;
    PerSecond rate;
    RateOf of = RateOf::node;
    GapLaw gaps;
    Seconds detection;         // until the job is known to stand still
    Seconds restart;           // until it trains again, given its nodes
    Seconds repair;            // mean, until the node is a spare again; zero: no node is taken out
    double repair_cv = 1.0;    // lognormal
    double memory_kept = 0.0;  // probability that checkpoints in memory outlive it
    bool planned = false;      // announced: a checkpoint is written before, no work is lost
};

/// Checkpoints are read back from storage once they are there. Blocking: training stands still while one is written.
/// Asynchronous: it stands still for a snapshot only, and the checkpoint counts when it has been written.
enum class CheckpointWrite { blocking, asynchronous };
template <>
inline constexpr auto names_of<CheckpointWrite> = std::to_array<Named<CheckpointWrite>>(
    {{CheckpointWrite::blocking, "blocking"}, {CheckpointWrite::asynchronous, "asynchronous"}});

/// How the interval is found where none is given. Formulas and sources: failure_model.hpp.
enum class IntervalRule { young, daly, optimal };
template <>
inline constexpr auto names_of<IntervalRule> = std::to_array<Named<IntervalRule>>({{IntervalRule::young, "young"},
                                                                                   {IntervalRule::daly, "daly"},
                                                                                   {IntervalRule::optimal, "optimal"}});

/// Copies in the memory of other nodes, beside the checkpoints in storage (Wang et al., GEMINI, SOSP 2023). Each cause says how
/// probably they outlive it.
struct MemoryCheckpoints {
    Seconds interval;  // zero: none
    Seconds stall;     // that training stands still for each
};

/// Slow change of the speed of the whole job: an Ornstein-Uhlenbeck process of mean one.
struct Drift {
    double cv = 0.0;
    Seconds time;  // of correlation
};

inline constexpr int enough_spares = -1;  // so many that none is ever missing

struct Reliability {
    PerSecond node_failure_rate;  // of each node, exponential gaps: a first cause, named "node failure"; zero: none
    Seconds restart;              // of that cause
    Seconds checkpoint_interval;  // productive time between writes; zero: by `interval_rule`
    Seconds checkpoint_write;     // of one checkpoint, until it is in storage
    std::vector<Cause> causes{};  // beside node_failure_rate
    IntervalRule interval_rule = IntervalRule::young;
    CheckpointWrite write = CheckpointWrite::blocking;
    Seconds snapshot{};  // of asynchronous writes
    MemoryCheckpoints memory{};
    int spares = enough_spares;  // nodes that wait to replace failed ones
    double node_cv = 0.0;        // of the nodes' own rates, gamma: counts by node are negative binomial; zero: all alike
    Drift drift{};
};

/// All causes of failures, `node_failure_rate` first where it is not zero.
std::vector<Cause> all_causes(const Reliability& reliability);

}  // namespace prismopt
