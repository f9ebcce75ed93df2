#pragma once

/// What the times of a plan depend on: noise sources, kernels and hardware parameters.

#include "model/base/parallel.hpp"
#include "optimizer/api/plans.hpp"
#include "optimizer/sensitivity/effects.hpp"

#include <variant>

namespace prismopt {

/// Returns the options with at least so many step draws. Throws InputError.
SensitivityOptions with_draws(SensitivityOptions options, int draws);

/// Returns the effects (sensitivity_names()) on a plan, or why it is infeasible. Throws InputError for
/// options out of range, for names that the scenario does not have, and if SensitivityOptions::only selects
/// nothing that varies or can be changed.
std::variant<Sensitivity, Infeasible> sensitivity_of(
    const ChosenPlan& chosen, const SensitivityOptions& options = {}, const Pause& pause = [] {});

}  // namespace prismopt
