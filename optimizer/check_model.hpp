#pragma once

/// Predictions beside published measurements.

#include "io/published_runs.hpp"

namespace prismopt {

/// One published run and what the model says of it. What is compared is the stochastic mean: a measured run contains its noise.
struct CheckedRun {
    PublishedRun run;
    double measured_s = 0.0;   // step time; from the rate where the source prints one
    double predicted_s = 0.0;  // mean step time
    double memory_bytes = 0.0;
    double relative_error() const { return predicted_s / measured_s - 1.0; }
};

/// Predicts every run of the catalog, without a memory limit (the runs were possible).
std::vector<CheckedRun> check_model();

}  // namespace prismopt
