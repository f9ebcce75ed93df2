#pragma once

/// Writes fits to traces as JSON.

#include "model/calibration/calibration.hpp"
#include "model/calibration/fit/failure_fit.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// One object. Quantiles are at probabilities of 0.5 %, 1 %, ..., 99.5 %. `composed_s`: ascending step
/// times from composed_steps(); empty:
/// none. `failures` without causes: no list of outages.
std::string calibration_json(const Calibration& calibration, const std::vector<double>& composed_s,
                             const FailureFit& failures, const std::vector<Fault>& excluded_events);

}  // namespace prismopt
