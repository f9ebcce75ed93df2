#pragma once

/// Sentences for rows that are excluded from measurements, and for problems of traces.

#include "model/calibration/trace/trace.hpp"

#include <string>

namespace prismopt {

/// Why rows are excluded, after "rows with": "duration of more than a day".
std::string fault_text(const Fault& fault);

/// A problem of a trace, with what to do.
std::string problem_text(const TraceProblem& problem, const Trace& trace);

}  // namespace prismopt
