#pragma once

/// Estimation of drift, the slow change of a job's speed, from its steps.

#include <cstdint>
#include <vector>

namespace prismopt {

/// Drift of the steps' common factor.
struct DriftFit {
    double cv = 0.0;
    double time_s = 0.0;
    double lag_one = 0.0;  // autocorrelation of neighbouring steps
    bool found = false;
};

/// Fits the autocovariance of a series by the distances between its places. `found` is false with fewer than
/// 50 values, or if the correlation of neighbours is not significant (2 standard errors).
DriftFit fit_drift(const std::vector<double>& series, const std::vector<std::int32_t>& places,
                   double seconds_per_place);

}  // namespace prismopt
