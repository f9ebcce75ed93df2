#pragma once

/// The results of a plan as JSON, by the table of io/results/plan_results.hpp: the same
/// names for `report` and `predict`.

#include "io/results/plan_results.hpp"
#include "model/base/units.hpp"

#include <nlohmann/json_fwd.hpp>

namespace prismopt {

/// `value` with its 95 % confidence interval, `low` and `high`; null where there is none.
nlohmann::ordered_json estimate_json(const Estimate& estimate);

/// `estimates`, `numbers` and `quantiles` by name. An estimate that follows the model
/// also has its prediction interval.
nlohmann::ordered_json results_json(const PlanResults& results, Seconds deadline,
                                    bool Outputs::*output = &Outputs::study);

/// `units` and `description` of each estimate and number.
nlohmann::ordered_json columns_json(bool Outputs::*output = &Outputs::study);

}  // namespace prismopt
