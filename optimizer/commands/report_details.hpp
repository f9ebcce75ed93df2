#pragma once

/// Parts of an HTML report that are not in the results file: timelines, recomputed from the scenario in that file.

#include "io/html/report_page.hpp"

#include <string>

namespace prismopt {

/// `file`: path of the results. If this version cannot read their scenario, the note says so and there are no timelines.
ReportedStudy reported_study(const Results& results, const std::string& file);

/// Returns notes on where the process groups of the front's plans lie; empty: none, or unknown to this version.
std::string placements_of(const Results& results);
/// text_report() with these notes at its end.
std::string text_with_placements(const Results& results);

/// Adds an output of `sensitivity --json`. Throws InputError if the file is something else, or its plan is not on the front.
void add_sensitivity(ReportedStudy& study, const std::string& path);

}  // namespace prismopt
