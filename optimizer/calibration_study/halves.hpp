#pragma once

/// Prediction of the second half of the measured steps of a job from the first half.

#include "model/calibration/trace/trace.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A quantile: predicted, measured, and the sampling error of the measured half.
struct QuantileCheck {
    double p = 0.0;
    double predicted_s = 0.0;
    double measured_s = 0.0;
    double bootstrap_error = 0.0;  // half the 95 % interval over the value, from resampling the measured half

    double error() const { return predicted_s / measured_s - 1.0; }
};

struct HalvesCheck {
    std::string job;
    std::size_t fitted_steps = 0;
    std::size_t warm_up_steps = 0;
    std::vector<QuantileCheck> quantiles;  // of 0.5, 0.95, 0.99
    double ks = 0.0;
    double ks_probability = 0.0;                  // p-value
    double repeat_ks = 0.0;                       // of the first half itself, as prediction of the second
    std::vector<double> predicted_s, measured_s;  // rising
};

/// Check of a trace sorted by start. The second half is used for the comparison only.
HalvesCheck check_halves(const Trace& trace);

/// Spread of the second half of a series of step times: measured, and predicted from the first half.
struct SpreadCheck {
    std::string run;
    double predicted_cv = 0.0, measured_cv = 0.0;
    double measured_error = 0.0;  // standard error of the measured cv
    double p50_error = 0.0, p95_error = 0.0, ks = 0.0;
    double ks_probability = 0.0;      // p-value of the second half under the distribution fitted to the first
    double repeat_probability = 0.0;  // p-value of the two halves themselves, without a fitted distribution
    std::size_t steps = 0;
};
SpreadCheck check_series(const std::string& run, const std::vector<double>& step_s);

}  // namespace prismopt
