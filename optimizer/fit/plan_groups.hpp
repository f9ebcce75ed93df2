#pragma once

/// Groups of measured plans of one job, and what shortlists of them would have been worth.

#include "model/calibration/posterior/step_posterior.hpp"
#include "optimizer/accuracy/check_model.hpp"
#include "optimizer/fit/held_out_families.hpp"

#include <array>
#include <string>
#include <vector>

namespace prismopt {

/// Plans of the smallest groups that the discrepancy is fitted to; and different ones of those
/// that shortlists are judged by.
inline constexpr std::size_t smallest_fitted_group = 3;
inline constexpr std::size_t smallest_judged_group = 3;

/// Measured plans of one job, predicted by constants that were fitted without their family.
struct PlanGroup {
    std::string source;
    std::string job;
    bool one_node = false;
    std::vector<double> predicted_s;  // [plan]
    std::vector<double> measured_s;
    MeasuredGroup errors;
};

/// Groups of at least three plans. A group weighs n^-0.7 if its source has n of them, as rows
/// do in the fit of the constants.
std::vector<PlanGroup> plan_groups(const std::vector<FittedRow>& rows,
                                   const std::vector<HeldOutFamily>& families, const Fit& fit,
                                   const NoiseByProfile& noise);

/// Of measurements of the same plan (repeat_deviation()).
double repeat_deviation_of(const std::vector<PlanGroup>& groups);

/// Deviations of the logarithm of measured over predicted peak memory, medians over stacks: the part that the
/// rows of a source have in common, and the part that differs between them (one-way random effects), sources
/// weighing the same. Zero without such rows.
struct MemoryDeviations {
    double common = 0.0;
    double of_plan = 0.0;
    // the root mean square of a stack's rows, and ten rows of the median of all stacks
    std::map<std::string, MemoryScatter> of_stack{};
};
MemoryDeviations memory_deviations(const std::vector<CheckedRun>& runs);

/// What measuring the plans of a shortlist would have brought.
struct ShortlistAccuracy {
    std::string source;
    std::string job;
    bool one_node = false;
    std::size_t plans = 0;
    std::size_t covering = 0;   // plans of the 90 % shortlist
    bool hit = false;           // it has a plan within repeats_differ of the best
    bool exact = false;         // it has the best
    double first_regret = 0.0;  // of the plan ranked first. Regrets within repeats_differ count as zero
    double three_regret = 0.0;  // after measuring the three of least expected regret
    double first_strict = 0.0;  // the same regrets, whatever repeats differ by
    double three_strict = 0.0;
    double random_regret = 0.0;  // mean over all choices of three plans
    double error = 0.0;  // mean absolute error of the other plans, if any, before these three are measured
    double error_after = 0.0;  // after
    // Shares of the other plans inside their intervals of 50, 80 and 95 % after these three were measured.
    std::array<double, 3> inside{};
    double error_hindsight = 0.0;  // with the one factor of all predictions that is the best for these plans
};

/// Groups of at least three different plans, with a discrepancy that was fitted to the groups of other
/// sources. A plan that was measured several times has the geometric mean of its times.
std::vector<ShortlistAccuracy> shortlist_accuracy(const std::vector<PlanGroup>& groups, double repeat);

}  // namespace prismopt
