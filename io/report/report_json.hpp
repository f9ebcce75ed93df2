#pragma once

/// Results as JSON; results/README.md documents the keys. Absent and non-finite values are null.

#include "io/results/results.hpp"

#include <string>

namespace prismopt {

/// The front with plans, estimates, units and provenance. `file`: path of the results file.
std::string report_json(const Results& results, const std::string& file);

/// Summary of a results file, without its points.
std::string summary_json(const Results& results, const std::string& file);

}  // namespace prismopt
