#pragma once

/// Comparison of predictions with published measurements.

#include "io/measured/measured_collectives.hpp"
#include "io/measured/measured_runs.hpp"
#include "model/distribution/noise_tables.hpp"
#include "model/hardware/memory_limit.hpp"
#include "model/step/graph/step_summary.hpp"
#include "optimizer/accuracy/model_interval.hpp"

#include <map>

namespace prismopt {

/// A measured run and its prediction. The comparison uses the mean of the step-time distribution, because
/// a measured run includes noise.
struct CheckedRun {
    MeasuredRun run;
    double predicted_s = 0.0;   // mean step time
    double noise_free_s = 0.0;  // with every duration at its mean
    MemoryUse memory;           // of the fullest stage
    double memory_bytes = 0.0;
    double bubble = 0.0;  // shares of the noise-free step
    double exposed_communication = 0.0;
    ModelInterval interval;  // of the ratio of measured to predicted mean
    double fits = 0.0;       // probability of fitting into memory (MemoryLimit)

    double relative_error() const { return predicted_s / run.measured_s - 1.0; }
    bool inside() const { return interval.holds(run.measured_s / predicted_s); }
    /// Whether the plan would be refused for its memory: it does not even count among those that may not fit.
    bool refused() const { return fits < least_fit_probability; }
};

/// A collective measured alone, and the network model's time for it.
struct CheckedCollective {
    MeasuredCollective measured;
    double predicted_s = 0.0;

    double relative_error() const { return predicted_s / measured.measured_s - 1.0; }
};

struct CheckedModel {
    std::vector<CheckedRun> runs;
    std::vector<CheckedRun> out_of_memory;  // runs that ended so; only their memory is predicted
    std::vector<CheckedCollective> collectives;
    std::vector<SkippedRow> skipped_collectives;
    std::vector<SkippedRow> skipped;  // rows that could not be read, and infeasible plans
};

/// The measured runs of the catalog.
MeasuredRuns shipped_runs();

/// The runs of the catalog, then those of the folder; duplicates occur once.
MeasuredRuns with_folder(MeasuredRuns shipped, const std::string& folder);

/// Compares the measured collectives of the folder with the network model, and adds them to `checked`.
void check_collectives(const std::string& folder, CheckedModel& checked);

/// The runs as if nobody knew their software, nor had measured it: with what else is plausible.
/// Omits those for which nothing else is.
MeasuredRuns without_software(MeasuredRuns runs);

/// Predicts every run under its variability profile, without a memory limit (the runs fitted into memory).
CheckedModel check_model(const MeasuredRuns& runs);

/// How good the probabilities of fitting are, over all runs whose outcome is known.
struct FitAccuracy {
    std::size_t ran = 0;
    std::size_t ran_refused = 0;   // below least_fit_probability
    std::size_t ran_doubtful = 0;  // from it to usual_fit_probability
    std::size_t stated = 0;        // of those that ran: with recompute and offload as the source states them
    std::size_t stated_refused = 0;  // same
    std::size_t failed = 0;          // out of memory
    std::size_t failed_likely = 0;   // with a probability of one half or more
    /// Mean of (probability - outcome)^2 (Brier, "Verification of forecasts expressed in terms of
    /// probability", Monthly Weather Review 78 (1950) 1-3): 0 is perfect, 0.25 that of a coin.
    double brier = 0.0;
};
FitAccuracy accuracy_of_fits(const CheckedModel& checked);

/// Noise tables of all variability profiles of the runs, for the groups of their plans.
std::map<std::string, NoiseTables> noise_of(const std::vector<MeasuredRun>& runs);

}  // namespace prismopt
