#pragma once

/// What was fitted to traces, as sections of a scenario.

#include "model/calibration/calibration.hpp"
#include "model/calibration/fit/failure_fit.hpp"

#include <string>

namespace prismopt {

/// A law as scenarios write it: `{ family = "gamma", cv = 0.1, source = "..." }`.
std::string law_toml(const Law& law);

/// [variability] with what was measured; the catalog's profile stands for the rest. Comments tell the tests, the intervals and what
/// the traces do not say.
std::string variability_toml(const Calibration& calibration, const std::string& profile);

/// [reliability] with a cause a line. What a list of outages does not tell has `restart` and checkpoints of the examples, marked.
std::string reliability_toml(const FailureFit& fit, const DriftFit& drift, const std::string& source);

}  // namespace prismopt
