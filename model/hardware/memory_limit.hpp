#pragma once

/// Whether a plan fits into the memory of its GPUs: a probability, because
/// predictions of its peak have an error.
///
///     log(measured / predicted) ~ N(bias, deviation^2),   P(fits) =
///     Phi((log(usable / predicted) - bias) / deviation)
///
/// with `usable` the memory of the accelerator without the headroom. The deviation is that of measured runs
/// of the software (Discrepancy::memory_on); the distribution is that of the prediction interval of the peak.
/// P falls as the predicted peak rises, so a limit on it is a limit on the predicted peak: usable memory
/// times a factor. What limits the peak (bounds of sub-spaces, layers balanced within it, the nearest miss)
/// needs nothing else. docs/methods/memory.md.

#include "model/base/units.hpp"

namespace prismopt {

/// Plans that fit with at least this probability, but not with that of the limit, are listed apart:
/// "may not fit (64 %)". Below it plans are infeasible. An assumption: one in five is worth a trial
/// where it is better than all that fit.
inline constexpr double least_fit_probability = 0.2;
inline constexpr double usual_fit_probability = 0.9;

struct MemoryLimit {
    double headroom = 0.0;                       // share of the memory that is kept free, subtracted first
    double probability = usual_fit_probability;  // with which plans must fit; zero: any plan does
    double bias = 0.0;                           // mean of log(measured / predicted)
    double deviation = 0.0;                      // its standard deviation; zero: predictions are exact
};

/// The limit that any plan meets.
inline constexpr MemoryLimit no_memory_limit{.probability = 0.0};

/// The same with another probability.
MemoryLimit with_probability(MemoryLimit limit, double probability);
/// The limit of plans that are listed apart.
MemoryLimit least_limit(const MemoryLimit& limit);
/// The same, so that any plan meets it: probabilities of fitting stay those of the limit.
inline MemoryLimit without_limit(const MemoryLimit& limit) { return with_probability(limit, 0.0); }

/// Memory that plans can have: without the headroom.
Bytes usable_memory(const MemoryLimit& limit, Bytes memory);
/// The largest predicted peak with which plans fit with the probability of the
/// limit; infinite without a limit.
Bytes memory_capacity(const MemoryLimit& limit, Bytes memory);
/// Probability that a plan of this predicted peak fits.
double fit_probability(const MemoryLimit& limit, Bytes predicted, Bytes memory);

/// 95 % prediction interval of the measured peak, over the predicted one.
struct PeakInterval {
    double low = 1.0;
    double high = 1.0;
};
PeakInterval interval_of_peak(const MemoryLimit& limit);

}  // namespace prismopt
