#pragma once

/// Sensitivities as text, JSON and a tornado plot.

#include "optimizer/sensitivity/effects.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace prismopt {

/// Scenario, plan and options of the effects, which belong to the caller.
struct SensitivityOf {
    const Scenario& scenario;
    const ParallelPlan& plan;
    const SensitivityOptions& options;
};

std::string sensitivity_text(const Sensitivity& found, const SensitivityOf& of);
nlohmann::json sensitivity_json(const Sensitivity& found, const SensitivityOf& of);
/// Changes of the p99 step time in percent, as a tornado plot.
std::string sensitivity_svg(const Sensitivity& found, const SensitivityOf& of);

}  // namespace prismopt
