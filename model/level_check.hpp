#pragma once

/// Whether the measured mean step time of a job agrees with its prediction. docs/methods/watch.md.

#include <vector>

namespace prismopt {

enum class LevelVerdict { compatible, slower, faster };

/// A prediction of the mean step time of a job, and a measured one in it.
struct LevelCheck {
    double predicted_s = 0.0;  // median
    double low_s = 0.0;        // 95 % prediction interval, with the model error
    double high_s = 0.0;
    double percentile = 0.0;           // of the measured time, with the model error
    double percentile_of_draws = 0.0;  // assuming the model is exact
    LevelVerdict verdict = LevelVerdict::compatible;
};

/// `jobs_s`: predicted mean step times of jobs on other GPUs (fleets). `model_low`, `model_high`: 95 %
/// prediction interval of measured over predicted. `error`: standard error of log(measured_s).
LevelCheck check_level(double measured_s, double error, const std::vector<double>& jobs_s, double model_low,
                       double model_high);

}  // namespace prismopt
