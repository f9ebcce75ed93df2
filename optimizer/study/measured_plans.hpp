#pragma once

/// Plans of a study that were run: what was measured beside what was predicted.

#include "io/scenario/constants/learned.hpp"
#include "model/calibration/posterior/step_posterior.hpp"
#include "optimizer/study/evaluator.hpp"
#include "optimizer/study/variant_gradients.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// Coefficient of variation; 0 of fewer than two steps.
double variation_of(const std::vector<double>& steps);

/// What was measured of a plan of a study.
struct MeasuredPlan {
    std::uint64_t index = 0;
    double step_s = 0.0;        // mean; 0: not measured
    double deviation = 0.0;     // relative, of that mean; at least that of repeated runs counts
    double variation = 0.0;     // coefficient of variation of the steps; 0: not measured
    int steps = 0;              // that were measured
    double memory_bytes = 0.0;  // peak of a GPU; 0: not measured
    bool out_of_memory = false;
};

/// A measured plan beside its prediction.
struct MeasuredAndPredicted {
    MeasuredPlan measured;
    double predicted_s = 0.0;            // mean step
    double memory_share = 0.0;           // predicted, of the accelerator's
    double measured_memory_share = 0.0;  // NaN if not measured
    double surprise = 0.0;        // of the step, in standard deviations, to all the other measurements; NaN if not measured
    double prior_surprise = 0.0;  // of the step, to the model's interval before anything was measured; NaN if not measured
    double memory_surprise =
        0.0;  // of the peak or of running out of memory, in standard deviations, to what was known before; else NaN
    double variation_low =
        0.0;  // range of the coefficient of variation of as many steps that the scenario's variability predicts
    double variation_high = 0.0;
    bool left_out = false;  // of the posterior, because it contradicts the other measurements
    bool apart = false;     // it contradicts them, but a second row confirms it: used for its own plan only
};

/// What the posterior knows of a plan in the first phase. `jobs`: names of networks; a new one is added.
PlanOfPosterior known_of(const StudyModel& model, const Point& point, VariantGradients& gradients,
                         std::vector<std::string>& jobs);

/// The job of a point in its first phase, without what was measured. `problem`: of its hardware.
LearnedStep unmeasured_step(const DesignMap& designs, const Point& point, const Problem& problem);

/// Measurements of earlier studies and of this one.
struct Measurements {
    std::vector<LearnedStep> steps;
    std::vector<LearnedTrial> trials;
    MemoryError memory;
    std::vector<MeasuredAndPredicted> rows;  // of this study
    std::vector<std::size_t> step_of_row;    // [row]: its position in steps; no_step: it has no step time

    static constexpr std::size_t no_step = ~std::size_t{0};
};

/// Adds measured plans to `known`. Rows that earlier studies had learned are not added again. `repeat`: relative deviation of
/// repeated runs. Throws InputError where a measured plan is infeasible for a reason other than memory, or has a step time or a
/// peak that can only be a mistake.
void add_measured(Measurements& known, const std::vector<MeasuredPlan>& measured, const StudyModel& model,
                  VariantGradients& gradients, std::vector<std::string>& jobs, double repeat);

}  // namespace prismopt
