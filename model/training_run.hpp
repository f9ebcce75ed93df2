#pragma once

/// From productive time to training time: failures, restarts, checkpoints.

#include "model/noise/quantile_table.hpp"
#include "model/noise/variability.hpp"
#include "model/random.hpp"

#include <cstdint>

namespace prismopt {

/// Failures of the nodes in use as one Poisson process, and the checkpoints against them. Seconds and per second.
struct FailureModel {
    double rate = 0.0;  // of the whole job
    double restart_s = 0.0;
    double checkpoint_interval_s = 0.0;
    double checkpoint_write_s = 0.0;

    /// The job never ends in practice: failures come much faster than checkpoints.
    bool hopeless() const;
};

/// With no interval given: Young's, sqrt(2 write / rate). Source: Young, Commun. ACM 17 (1974) 530-531.
FailureModel failure_model(const Reliability& reliability, int nodes);

/// Mean training time for a given productive time: exact renewal with exponential gaps, for whole checkpoint intervals:
/// (e^(rate (interval + write)) - 1) (1 / rate + restart) each; the rest of the last interval counts at its own length.
/// Source: Daly, Future Gener. Comput. Syst. 22 (2006) 303-312, eq. 13 with restarts free of failures.
double expected_training_time(double productive_s, const FailureModel& model);

/// One history of failures: training time of a run with this productive time. `exponential`: table of mean one.
/// Gaps are keyed by (fleet, number of the failure), so designs share their luck.
double sampled_training_time(double productive_s, const FailureModel& model, const QuantileTable& exponential, std::uint64_t seed,
                             Purpose purpose, std::uint32_t fleet);

}  // namespace prismopt
