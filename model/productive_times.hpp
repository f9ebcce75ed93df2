#pragma once

/// Productive time of a run, before failures, from draws of steps. docs/methods/training-time.md.

#include "model/plan/phase.hpp"
#include "model/predictor.hpp"

#include <vector>

namespace prismopt {

/// Productive time of the whole run per fleet, corrected for the noise of averaging few steps,
/// and the uncertainty that remains.
///
/// Deviations from the mean over fleets are shrunk by sqrt(1 - s), s = noise variance / total variance, and
/// their shape is found by deconvolution (deconvolution.hpp), starting from the means' own shape with weight
/// (1 - s)^2 and a Pearson type III distribution with weight s (2 - s).
struct ProductiveTimes {
    std::vector<double> seconds;  // [fleet]
    double mean = 0.0;
    double mean_variance = 0.0;  // of `mean`, in addition to the scatter of `seconds`
    double deviation = 0.0;      // standard deviation of `seconds`; at least the smallest detectable one

    double spread_deviation = 0.0;  // standard error of `deviation`, relative to it
    double shape_weight = 0.0;      // of the Pearson distribution in the start of the deconvolution
    double skewness = 0.0;
    double skewness_deviation = 0.0;  // standard error
    // part of that from weighing measured against expected skewness, which does not scatter
    double skewness_bias = 0.0;
    // In units of their standard deviations, ascending; empty if fleets do not differ.
    std::vector<double> measured;  // the fleets' means, with noise
    std::vector<double> scores;    // of `seconds`

    bool deconvolved = false;  // `scores` are not those of the means

    /// Returns the standard error of a quantile, in seconds, from the errors of deviation, skewness and
    /// shape, in addition to the scatter of `seconds`.
    double deviation_at(double probability) const;
    /// Returns the deviation of a quantile, in seconds, from what draws do not determine: the bias of the
    /// skewness, and of the rest of the shape a triangular distribution, about the deconvolved score, as wide
    /// as its distance from the measured one.
    double shape_deviation_at(double probability) const;
};

/// Computes productive times from fleets with `steps` draws each. With one step per fleet, the noise is
/// unknown and times are not corrected.
ProductiveTimes productive_times(const std::vector<Phase>& phases, const PhaseDraws& draws, int steps);

/// Returns the fraction of the productive time of each phase, [phase], by mean step times.
std::vector<double> phase_shares(const std::vector<Phase>& phases, const PhaseDraws& draws);

/// Multiplies each fleet's time by its mean drift over the run.
void drift(ProductiveTimes& productive, const Problem& problem, const SamplerOptions& options);

}  // namespace prismopt
