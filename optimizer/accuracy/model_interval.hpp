#pragma once

/// Error of the mean model, from its fit to measured runs.

#include "model/base/statistics.hpp"
#include "optimizer/accuracy/normal_mixture.hpp"

#include <vector>

namespace prismopt {

struct Cluster;
struct CompiledRun;
struct FittedModel;
struct ParallelPlan;
struct Problem;
struct Setting;

/// 95 % prediction interval of a measured mean, relative to the predicted one.
///
/// Its standard deviation, of the logarithm, is hypot(constants, scatter, unmeasured), where
/// - constants: uncertainty of the fitted constants of the catalog entries from which the
///   machine was made, and of links whose
/// numbers differ from the catalog. If the numbers of the machine were changed: the larger of the
/// values with and without the change;
/// - scatter: of measured runs of this kind about the fitted model. Below 16 bits, constants
///   and scatter together are at least
/// those of the same plan in 16 bits, the precision of most measured runs;
/// - unmeasured: error of the model on accelerators that it was not fitted to
///   (FittedModel::unmeasured), for accelerators without
/// a fit, and for software that a user describes or of which no run was measured; multiplied by
/// unlike_catalog() for accelerators whose numbers were changed.
///
/// Of software that was not given (Cluster::possible), the interval is that of the mixture: each program that
/// runs the plan, with its weight, about its own step.
///
/// The interval is never narrower than the error that the accelerator declares (model_error).
/// Changing a number of the catalog thus never makes a prediction more certain, because the changed
/// machine has not been measured.
struct ModelInterval {
    double low = 1.0;
    double high = 1.0;
    /// From measured runs: the fit used this accelerator, the catalog has its links, with these numbers, and
    /// no model_error of the scenario is larger.
    bool fitted = false;
    // Of software that was not given: step times with the fastest and the slowest that may run
    // the plan, over the predicted one.
    double software_low = 1.0;
    double software_high = 1.0;
    /// Distribution of the logarithm of measured over predicted, of which the interval holds 95 %.
    std::vector<NormalComponent> components = {{1.0, 0.0, 0.0}};

    /// Quantiles of measured over predicted, at reported_probabilities.
    std::vector<double> quantiles() const;
    bool holds(double measured_over_predicted) const
    {
        return low <= measured_over_predicted && measured_over_predicted <= high;
    }
};

/// The interval for a standard deviation of the logarithm.
ModelInterval interval_of(double deviation);

/// Distance of the numbers of the accelerator that determine kernel times from its catalog entry with
/// what was learned of it: 0 if they are equal; 1 if one of them differs by a factor of two
/// (as between generations) or more, or if there is no entry. In between, proportional to the
/// logarithm of the largest ratio.
double unlike_catalog(const Cluster& cluster);

/// Standard deviation of the logarithm of a plan's noise-free step time due to the uncertainty of the
/// fitted constants, by the delta method: sqrt(g C g) with the gradient g of log(step time) with
/// respect to the logarithms of the constants, by finite differences. Source: Cox, "Delta method",
/// Encyclopedia of Biostatistics (2005). A tier whose numbers differ from its link, or without a link,
/// adds the effect of making that tier twice as slow, times its distance from the catalog as in
/// unlike_catalog(). Zero for infeasible plans.
double constants_deviation(const Setting& setting, const ParallelPlan& plan, const FittedModel& model);

/// The model interval of a plan.
ModelInterval model_interval(const Setting& setting, const ParallelPlan& plan, const FittedModel& model);
/// In its first phase.
ModelInterval model_interval(const Problem& problem, const CompiledRun& run, const FittedModel& model);
ModelInterval model_interval(const Problem& problem, const ParallelPlan& plan, const FittedModel& model);

}  // namespace prismopt
