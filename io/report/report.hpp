#pragma once

/// Results for people: plain text and CSV.

#include "io/results/results.hpp"

#include <string>
#include <string_view>

namespace prismopt {

/// The front as a table with units and intervals, the plan of each point, what was infeasible, how the search ended,
/// and how far to trust it.
std::string text_report(const Results& results);

/// What quantiles are taken over, in words.
std::string_view population(bool nodes_known);

/// The front as CSV: one line a point, a header with units in the column names.
std::string front_csv(const Results& results);

/// Front, distributions and progress as pictures for papers, in one SVG.
std::string svg_report(const Results& results);

/// One paragraph on what a results file holds (for `inspect`).
std::string summary(const Results& results);

}  // namespace prismopt
