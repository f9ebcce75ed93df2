#pragma once

/// Work without failures: from draws of steps to the productive time of a run.

#include "model/phase.hpp"
#include "model/predictor.hpp"

#include <vector>

namespace prismopt {

/// Productive seconds of the whole run by fleet, free of the noise of averaging few steps, and what that leaves uncertain.
struct ProductiveTimes {
    std::vector<double> seconds;  // [fleet]
    double mean = 0.0;
    double mean_variance = 0.0;     // of `mean`, beyond what the scatter of `seconds` shows
    double shrink_deviation = 0.0;  // standard error of the factor by which deviations were shrunk, relative to it
    double deviation = 0.0;         // of `seconds`
};

/// Of fleets with `steps` draws each, at the fleet's mean step. See Predictor::summarise().
ProductiveTimes productive_times(const std::vector<Phase>& phases, const PhaseDraws& draws, int steps);

/// [phase]: of the productive time, by the mean steps.
std::vector<double> phase_shares(const std::vector<Phase>& phases, const PhaseDraws& draws);

/// The speed of the whole job changes slowly: each fleet has its own mean of that over the run.
void drift(ProductiveTimes& productive, const Problem& problem, const SamplerOptions& options);

}  // namespace prismopt
