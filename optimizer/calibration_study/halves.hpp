#pragma once

/// The first half of a job's measured steps predicts the second.

#include "model/calibration/trace/trace.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// One quantile: predicted, measured, and how far the measured half is itself to be trusted.
struct QuantileCheck {
    double p = 0.0;
    double predicted_s = 0.0;
    double measured_s = 0.0;
    double bootstrap_error = 0.0;  // half the 95 % interval over the value, of the measured half resampled

    double error() const { return predicted_s / measured_s - 1.0; }
};

struct HalvesCheck {
    std::string job;
    std::size_t fitted_steps = 0;
    std::size_t warm_up_steps = 0;
    std::vector<QuantileCheck> quantiles;  // of 0.5, 0.95, 0.99
    double ks = 0.0;
    double ks_probability = 0.0;                  // of as much, were both alike
    double repeat_ks = 0.0;                       // what simply repeating the first half gives
    std::vector<double> predicted_s, measured_s;  // rising
};

/// Of a trace sorted by start. The second half is looked at only for the comparison.
HalvesCheck check_halves(const Trace& trace);

/// Spread of a series of step times as its second half has it, and as its first half predicts it.
struct SpreadCheck {
    std::string run;
    double predicted_cv = 0.0, measured_cv = 0.0;
    double measured_error = 0.0;  // standard error of the measured cv
    double p50_error = 0.0, p95_error = 0.0, ks = 0.0;
    double ks_probability = 0.0;      // of as much, were the second half drawn from what the first half was drawn from
    double repeat_probability = 0.0;  // the same of the two halves themselves, without any law between
    std::size_t steps = 0;
};
SpreadCheck check_series(const std::string& run, const std::vector<double>& step_s);

}  // namespace prismopt
