#pragma once

/// Results as JSON for programs; results/README.md documents the keys. What is absent or not finite is null.

#include "io/results/results.hpp"

#include <string>

namespace prismopt {

/// The front with plans, estimates, units and provenance. `file`: where the results were read from.
std::string report_json(const Results& results, const std::string& file);

/// What a results file holds, without its points.
std::string summary_json(const Results& results, const std::string& file);

}  // namespace prismopt
