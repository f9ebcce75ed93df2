#pragma once

/// The prediction of a plan as text, as JSON, and by the table of results.

#include "io/results/results.hpp"
#include "optimizer/api/predict.hpp"

#include <string>

namespace prismopt {

/// Whether the text has a table with one line per stage.
enum class StageTable { off, on };
std::string prediction_text(const PlanPrediction& of, StageTable table = StageTable::off);

/// One JSON object; results/README.md lists the keys.
std::string prediction_json(const PlanPrediction& of);

/// What the table of results (plan_results()) has of the plan.
PlanResults results_of(const PlanPrediction& of);

}  // namespace prismopt
