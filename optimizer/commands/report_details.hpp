#pragma once

/// What an HTML report tells beside the results file: timelines, made again from the scenario that the file holds, and how well the
/// model reproduces measured runs.

#include "io/html/report_page.hpp"

#include <string>

namespace prismopt {

/// `file`: where the results were read from. Where this program no longer reads their scenario as it was meant, the note says so.
ReportedStudy reported_study(const Results& results, const std::string& file);

/// Adds the file that `sensitivity --json` wrote. Throws InputError where it is none, or of no plan of the front.
void add_sensitivity(ReportedStudy& study, const std::string& path);

/// Of the runs that ship.
ModelCheck shipped_model_check();

}  // namespace prismopt
