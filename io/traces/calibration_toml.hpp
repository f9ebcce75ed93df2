#pragma once

/// Writes fits to traces as sections of a scenario.

#include "model/calibration/calibration.hpp"
#include "model/calibration/fit/failure_fit.hpp"

#include <string>

namespace prismopt {

/// A distribution in the syntax of scenarios: `{ family = "gamma", cv = 0.1, source = "..." }`.
std::string distribution_toml(const Distribution& distribution);

/// [variability] with the measured distributions, and the catalog's profile for the others. Comments report
/// the tests, the intervals and what the traces cannot determine.
std::string variability_toml(const Calibration& calibration, const std::string& profile);

/// [reliability] with one section per cause. Values that a list of outages does not contain
/// (`restart`, checkpoints) are marked examples.
std::string reliability_toml(const FailureFit& fit, const std::vector<Fault>& excluded, const DriftFit& drift,
                             const std::string& source);

}  // namespace prismopt
