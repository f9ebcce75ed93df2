#pragma once

/// Output of `predict` for one plan.

#include "optimizer/api/predict.hpp"

#include <nlohmann/json_fwd.hpp>

namespace prismopt {

nlohmann::ordered_json to_json(const PlanPrediction& of);
/// Whether the text has a table with one line per stage.
enum class StageTable { off, on };
void print_text(const PlanPrediction& of, StageTable table);

}  // namespace prismopt
