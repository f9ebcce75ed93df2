#pragma once

/// How far the mean model may be off, from what its fit to measured runs left open.

#include "io/fitted_model.hpp"
#include "model/predictor.hpp"

namespace prismopt {

inline constexpr double two_sided_95 = 1.959964;  // quantile 0.975 of the normal law

/// 95 % limits of a measured mean over the predicted one.
struct ModelInterval {
    double low = 1.0;
    double high = 1.0;
    bool fitted = false;  // from the fit's covariance and scatter; else the error that the accelerator declares

    bool holds(double measured_over_predicted) const { return low <= measured_over_predicted && measured_over_predicted <= high; }
};

/// Limits from the standard deviation of a logarithm.
ModelInterval interval_of(double deviation);

/// The cluster with a constant `factor` times as large, where it is one of the cluster's: of its accelerator or stack by name, of
/// a tier by its numbers. Otherwise as it is.
Cluster scaled(Cluster cluster, const FittedConstant& constant, double factor);

/// Whether the accelerator's share for products is among the fitted constants: without it the fit says nothing of it.
bool knows(const FittedModel& model, const Cluster& cluster);

/// Standard deviation of the logarithm of a plan's step time without noise, as far as the fitted constants are uncertain: by the
/// delta method, sqrt(g C g) with the gradient g of log(step time) by the constants' logarithms, in differences. Source: Cox,
/// "Delta method", Encyclopedia of Biostatistics (2005). Zero for plans that cannot run.
double constants_deviation(const Setting& setting, const ParallelPlan& plan, const FittedModel& model);

/// The interval of a plan: its constants' deviation and the scatter of runs of its kind about the fitted model, independent.
ModelInterval model_interval(const Setting& setting, const ParallelPlan& plan, const FittedModel& model);

/// The same of a plan in its first phase.
ModelInterval model_interval(const Problem& problem, const ParallelPlan& plan, const FittedModel& model);

}  // namespace prismopt
