#pragma once

/// Plans of a study that were run: what was measured beside what was predicted.

#include "io/scenario/constants/learned.hpp"
#include "model/calibration/posterior/step_posterior.hpp"
#include "optimizer/study/measured_plan.hpp"
#include "optimizer/study/study_model.hpp"
#include "optimizer/study/variant_gradients.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// Of a measured peak, as the deviation of its logarithm: allocators round, and read at
/// different moments. An assumption.
inline constexpr double measured_memory_noise = 0.02;
/// Measured over predicted step, or the inverse: what is beyond is not an error of the model, which is below
/// 60 % also on accelerators that no constant was fitted to (results/model-accuracy.md).
inline constexpr double largest_measured_ratio = 5.0;

/// Coefficient of variation; 0 of fewer than two steps.
double variation_of(const std::vector<double>& steps);

/// What the posterior knows of a plan in the first phase. `problem`: of its hardware; `gradient`: of the step
/// in that phase. `jobs`: what shares the error of its source: a network, and with several clusters its
/// accelerator and software; a new one is added.
PlanOfPosterior known_of(const StudyModel& model, const Point& point, const Problem& problem,
                         std::vector<double> gradient, std::vector<std::string>& jobs);

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

/// Adds measured plans to `known`. Rows that earlier studies had learned are not added again. `repeat`:
/// relative deviation of repeated runs. Throws InputError where a measured plan is infeasible for a reason
/// other than memory, or has a step time or a peak that can only be a mistake.
void add_measured(Measurements& known, const std::vector<MeasuredPlan>& measured, const StudyModel& model,
                  VariantGradients& gradients, std::vector<std::string>& jobs, double repeat);

}  // namespace prismopt
