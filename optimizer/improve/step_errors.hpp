#pragma once

/// Joint error of the predicted steps of several plans of one job, given what was
/// measured. docs/methods/posterior.md.

#include "io/scenario/constants/learned.hpp"
#include "model/plan/plan.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace prismopt {

struct Problem;
struct Scenario;

/// A measured mean step of the first of some plans.
struct MeasuredStep {
    double measured_s = 0.0;
    double predicted_s = 0.0;  // mean, of this scenario
};

/// Draws of log(actual / predicted) of each plan, [draw * plans + plan], by the posterior of the fitted
/// constants and of the error of each plan: what all plans share cancels in their differences. What the
/// scenario has learned counts, as in shortlists. `measured`: of the first plan. `problem`: of the scenario;
/// plans need not fit into memory.
std::vector<double> step_error_draws(const Scenario& scenario, const Problem& problem,
                                     std::span<const ParallelPlan> plans,
                                     const std::optional<MeasuredStep>& measured);

}  // namespace prismopt
