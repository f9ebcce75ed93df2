#pragma once

/// Drift: slow changes of speed, averaged over a run. docs/methods/training-time.md.

#include "model/base/random.hpp"
#include "model/distribution/polynomial_pieces.hpp"
#include "model/run/reliability.hpp"

#include <cstdint>

namespace prismopt {

/// Returns the coefficient of variation of the mean speed over a run of this length: cv sqrt(2
/// (x - 1 + e^-x)) / x at x = length / time. Source: the variance of the time average of an
/// Ornstein-Uhlenbeck process (Taylor, Proc. London Math. Soc. s2-20 (1922) 196-212).
double mean_drift_cv(const Drift& drift, double length_s);

/// Returns the drift factor of one fleet's run, 1 + cv z, with z normal.
double drift_factor(double cv, const NormalScores& scores, std::uint64_t seed, Purpose purpose,
                    std::uint32_t fleet);

}  // namespace prismopt
