#pragma once

/// What two predictions of a step time have in common: the variance of the error of
/// their ratio. docs/methods/pairs.md.

#include "model/calibration/posterior/step_posterior.hpp"

#include <span>

namespace prismopt {

/// Correlations of the errors of plans of one network, beyond those of the constants,
/// by what differs beside the plan.
struct MachineCorrelations {
    double accelerator = 0.0;
    double software = 0.0;
    double gpus = 0.0;  // their number
};

/// What differs beside the plan.
struct MachinesDiffer {
    bool accelerator = false;
    bool software = false;
    bool gpus = false;
    bool network = false;  // of layers

    bool machine() const { return accelerator || software; }
};

/// The smallest of the correlations that apply; one if nothing differs.
double correlation_of(const MachineCorrelations& correlations, const MachinesDiffer& differ);

/// Variances of log(actual / predicted ratio) by cause.
struct PairVariance {
    double constants = 0.0;  // of accelerators, stacks and links
    double source = 0.0;     // of all plans of a job
    double plans = 0.0;      // of each plan
    double hardware = 0.0;   // numbers that were not measured

    double sum() const { return constants + source + plans + hardware; }
};

/// `covariance`: of the logarithms of the constants, [i * constants + j]. Both plans' jobs are those of
/// StepPosterior: plans of different jobs share no source effect.
///
///     (g_a - g_b) C (g_a - g_b) + 2 source^2 (1 - r) + 2 deviation^2 - 2 r covariance(delta_a, delta_b)
///
/// With r = 1 it is the variance of the difference in StepPosterior before observations.
PairVariance variance_of_ratio(const Discrepancy& discrepancy, std::span<const double> covariance,
                               const PlanOfPosterior& a, const PlanOfPosterior& b, double correlation);

}  // namespace prismopt
