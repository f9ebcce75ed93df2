#pragma once

/// How slowly a job's speed changes, found in its steps.

#include <cstdint>
#include <vector>

namespace prismopt {

/// Slow change of the steps' common factor.
struct DriftFit {
    double cv = 0.0;
    double time_s = 0.0;
    double lag_one = 0.0;  // autocorrelation of neighbouring steps
    bool found = false;
};

/// By the autocovariance of a series at distances between its places; nothing is found in fewer than 50 values, or where neighbours
/// are as independent as chance makes them (2 standard errors).
DriftFit fit_drift(const std::vector<double>& series, const std::vector<std::int32_t>& places, double seconds_per_place);

}  // namespace prismopt
