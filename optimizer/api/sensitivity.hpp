#pragma once

/// What the times of a plan depend on: noise sources, kernels and hardware parameters.

#include "optimizer/api/plans.hpp"
#include "optimizer/sensitivity/effects.hpp"

#include <variant>

namespace prismopt {

/// Returns the effects (sensitivity_names()) on a plan, or why it is infeasible. Throws InputError if SensitivityOptions::only selects
/// nothing that varies or can be changed.
std::variant<Sensitivity, Infeasible> sensitivity_of(const ChosenPlan& chosen, const SensitivityOptions& options = {});

}  // namespace prismopt
