#pragma once

/// How far the mean model may be off, from what its fit to measured runs left open.

#include "io/measured/fitted_model.hpp"
#include "model/predictor.hpp"

namespace prismopt {

inline constexpr double two_sided_95 = 1.959964;  // quantile 0.975 of the normal law

/// 95 % prediction interval of a measured mean, relative to the predicted one.
///
/// It is that of the deviation hypot(constants, scatter, unmeasured) of the logarithm, where
/// - constants: the uncertainty of the fitted constants, of the catalog's entries from which the machine was made, and of links with
///   other numbers than the catalog's. A machine whose numbers were changed has the larger of its own and of the machine's before the
///   change;
/// - scatter: that of measured runs of this kind about the fitted model. Together with the constants it is at least that of the same
///   plan in 16 bits, of which most measured runs are, where fewer are used;
/// - unmeasured: how far the model was off on accelerators that it was not fitted to (FittedModel::unmeasured), for an accelerator
///   that no fit knows; for one whose numbers were changed the share unlike_catalog() of it.
/// It is never narrower than the error that the accelerator declares (model_error). So no change of a number that the catalog has makes a
/// prediction more certain: nobody has measured the machine that the change describes.
struct ModelInterval {
    double low = 1.0;
    double high = 1.0;
    bool fitted = false;  // the fit had runs of this accelerator, as it is, and the catalog has the links, as they are

    bool holds(double measured_over_predicted) const { return low <= measured_over_predicted && measured_over_predicted <= high; }
};

/// Limits from the standard deviation of a logarithm.
ModelInterval interval_of(double deviation);

/// The cluster with a constant `factor` times as large, where it is one of the cluster's: of its accelerator or stack by name, of
/// a tier by its link or its numbers. Otherwise as it is.
Cluster scaled(Cluster cluster, const FittedConstant& constant, double factor);

/// How far an accelerator's numbers that kernel times rest on are from the catalog's entry that it was made from: 0 where they are equal, 1
/// where one is a factor of two away (as between two generations) or further, and where it was made from none. In between it is
/// proportional to the logarithm of the farthest.
double unlike_catalog(const Accelerator& accelerator, const SoftwareStack& stack);

/// Standard deviation of the logarithm of a plan's step time without noise, as far as the fitted constants are uncertain: by the
/// delta method, sqrt(g C g) with the gradient g of log(step time) by the constants' logarithms, in differences. Source: Cox,
/// "Delta method", Encyclopedia of Biostatistics (2005). A tier with other numbers than its link, or of no link, adds what the step
/// takes longer where that tier is twice as slow: by the share of unlike_catalog(), which is of links as of accelerators. Zero for plans that cannot run.
double constants_deviation(const Setting& setting, const ParallelPlan& plan, const FittedModel& model);

/// The interval of a plan.
ModelInterval model_interval(const Setting& setting, const ParallelPlan& plan, const FittedModel& model);

/// The same of a plan in its first phase.
ModelInterval model_interval(const Problem& problem, const ParallelPlan& plan, const FittedModel& model);

}  // namespace prismopt
