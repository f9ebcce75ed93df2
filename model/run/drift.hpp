#pragma once

/// What slow changes of speed leave in the mean of a long run.

#include "model/base/random.hpp"
#include "model/distribution/polynomial_pieces.hpp"
#include "model/run/reliability.hpp"

#include <cstdint>

namespace prismopt {

/// Coefficient of variation of the mean speed over a run of this length: cv sqrt(2 (x - 1 + e^-x)) / x at x = length / time.
/// Source: the variance of the time average of an Ornstein-Uhlenbeck process (Taylor, Proc. London Math. Soc. s2-20 (1922) 196-212).
double mean_drift_cv(const Drift& drift, double length_s);

/// Time per work of one run: 1 + cv z, normal as such a mean is, by fleet.
double drift_factor(double cv, const NormalScores& scores, std::uint64_t seed, Purpose purpose, std::uint32_t fleet);

}  // namespace prismopt
