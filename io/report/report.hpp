#pragma once

/// Reports of results: plain text, CSV and SVG.

#include "io/results/results.hpp"

#include <string>
#include <string_view>

namespace prismopt {

/// Text report: the front as a table with units and intervals, infeasible plans by reason, the outcome of the search, sampling error and
/// model error.
std::string text_report(const Results& results);

/// Description of the population that quantiles are taken over.
std::string_view population(bool nodes_known);

/// The front as CSV: one line per point, a header with units in the column names.
std::string front_csv(const Results& results);

/// Plots of the front, distributions and progress in one SVG.
std::string svg_report(const Results& results);

/// One-paragraph summary of a results file (for `inspect`).
std::string summary(const Results& results);

}  // namespace prismopt
