#pragma once

/// Results as JSON; results/README.md documents the keys. Absent and non-finite values are null.

#include "io/report/study_notes.hpp"
#include "io/results/results.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace prismopt {

/// The front with plans, estimates, units and provenance. `file`: path of the results file.
std::string report_json(const Results& results, const std::string& file);

/// Its space and its job, which the page shows as well.
nlohmann::ordered_json space_json(const Results& results);
nlohmann::ordered_json job_json(const StudyNotes& notes);

/// Summary of a results file, without its points.
std::string summary_json(const Results& results, const std::string& file);

}  // namespace prismopt
