#pragma once

/// Predictions beside published measurements.

#include "io/measured/measured_collectives.hpp"
#include "io/measured/measured_runs.hpp"
#include "model/distribution/noise_tables.hpp"
#include "optimizer/accuracy/model_interval.hpp"

#include <map>

namespace prismopt {

/// One measured run and what the model says of it. What is compared is the stochastic mean: a measured run contains its noise.
struct CheckedRun {
    MeasuredRun run;
    double predicted_s = 0.0;   // mean step time
    double noise_free_s = 0.0;  // with every duration at its mean
    double memory_bytes = 0.0;
    double bubble = 0.0;  // shares of the noise-free step
    double exposed_communication = 0.0;
    ModelInterval interval;  // of the measured mean over the predicted one

    double relative_error() const { return predicted_s / run.measured_s - 1.0; }
    bool inside() const { return interval.holds(run.measured_s / predicted_s); }
};

/// A collective measured alone, and the network model's time for it.
struct CheckedCollective {
    MeasuredCollective measured;
    double predicted_s = 0.0;

    double relative_error() const { return predicted_s / measured.measured_s - 1.0; }
};

struct CheckedModel {
    std::vector<CheckedRun> runs;
    std::vector<CheckedCollective> collectives;
    std::vector<SkippedRow> skipped_collectives;
    std::vector<SkippedRow> skipped;  // those that could not be read, and plans that cannot run
};

/// The runs of the catalog.
MeasuredRuns shipped_runs();

/// The folder's runs after the catalog's; a run of both is there once.
MeasuredRuns with_folder(MeasuredRuns shipped, const std::string& folder);

/// Collectives of the folder beside the model; adds to the runs' report.
void check_collectives(const std::string& folder, CheckedModel& checked);

/// Predicts every run under its variability profile, without a memory limit (the runs were possible).
CheckedModel check_model(const MeasuredRuns& runs);

/// Noise tables of all profiles that the runs name, for the groups of their plans.
std::map<std::string, NoiseTables> noise_of(const std::vector<MeasuredRun>& runs);

}  // namespace prismopt
