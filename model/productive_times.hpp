#pragma once

/// Work without failures: from draws of steps to the productive time of a run.

#include "model/plan/phase.hpp"
#include "model/predictor.hpp"

#include <vector>

namespace prismopt {

/// Productive seconds of the whole run by fleet, free of the noise of averaging few steps, and what that leaves uncertain.
///
/// A fleet's mean over few steps scatters more than the run's many steps would, and with another shape. Deviations from the mean over fleets
/// are shrunk by sqrt(1 - s), s = noise variance / total variance. Their shape is found by deconvolution (deconvolution.hpp): noise is
/// what steps of a fleet differ by, given the skewness that they show; it starts from the means' own shape with weight 1 - s (2 - s), else that
/// of a Pearson law of type III, with the skewness of the true means, which products of a fleet's steps show: noises of steps are independent.
struct ProductiveTimes {
    std::vector<double> seconds;  // [fleet]
    double mean = 0.0;
    double mean_variance = 0.0;  // of `mean`, beyond what the scatter of `seconds` shows
    double deviation = 0.0;      // standard deviation of `seconds`, at least what cannot be told from none

    double spread_deviation = 0.0;  // standard error of `deviation`, relative to it
    double shape_weight = 0.0;      // of the Pearson law where the deconvolution starts
    double skewness = 0.0;
    double skewness_deviation = 0.0;  // standard error
    // In units of their standard deviations, ascending; empty: no fleet differs.
    std::vector<double> measured;  // the fleets' means, noise and all
    std::vector<double> scores;    // of `seconds`

    /// Standard error of a quantile, seconds, beyond what the scatter of `seconds` shows: of their deviation, skewness and shape.
    double deviation_at(double probability) const;
};

/// Of fleets with `steps` draws each. A single step a fleet tells nothing of noise: its times are taken as they are.
ProductiveTimes productive_times(const std::vector<Phase>& phases, const PhaseDraws& draws, int steps);

/// [phase]: of the productive time, by the mean steps.
std::vector<double> phase_shares(const std::vector<Phase>& phases, const PhaseDraws& draws);

/// The speed of the whole job changes slowly: each fleet has its own mean of that over the run.
void drift(ProductiveTimes& productive, const Problem& problem, const SamplerOptions& options);

}  // namespace prismopt
