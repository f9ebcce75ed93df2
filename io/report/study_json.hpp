#pragma once

/// The space, the variants and the job of a study as JSON, for `report --json` and the page.

#include "io/report/study_notes.hpp"
#include "io/results/results.hpp"

#include <nlohmann/json_fwd.hpp>

namespace prismopt {

nlohmann::ordered_json space_json(const Results& results);
nlohmann::ordered_json variants_json(const VariantCounts& counts);
nlohmann::ordered_json job_json(const StudyNotes& notes);

}  // namespace prismopt
