#pragma once

/// Error of the ratio of two predictions: what both have in common cancels. docs/methods/pairs.md.

#include "io/scenario/constants/fitted_model.hpp"
#include "model/calibration/posterior/pair_variance.hpp"
#include "model/hardware/hardware.hpp"
#include "optimizer/accuracy/normal_mixture.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

struct Setting;
struct TimeDistribution;

/// A plan's predicted step, as far as its error goes together with that of others.
struct StepError {
    Cluster cluster;
    std::string network;
    RunKind kind = RunKind::dense;
    int gpus = 0;
    std::string design;     // the plan, in words
    PlanOfPosterior known;  // traits, and the gradient by the fitted constants
    struct OfTier {
        double bandwidth = 0.0;  // change of log(step) with a tier of slower_tier
        double latency = 0.0;
    };
    std::vector<OfTier> tiers{};
    struct WithSoftware {
        std::string name;
        double weight = 1.0;
        // of the step to that with the assumed software; nothing: it does not run the plan
        std::optional<double> log_ratio{};
    };
    std::vector<WithSoftware> software{};  // that it may have; empty: it was given
};

/// Of a plan in a phase; without a memory limit. Gradients are zero for infeasible plans.
StepError step_error(const Setting& setting, const ParallelPlan& plan, const FittedModel& model);

/// log(actual / predicted) of the ratio of the second plan's time to the first's, in
/// expectation: without the noise of runs.
struct PairError {
    MachinesDiffer differ;
    bool same_design = false;  // both plans are one plan of one network, on any machine
    bool same_plan = false;    // on the same machine: nothing is uncertain
    double correlation = 1.0;  // of the errors beyond those of the constants
    PairVariance variance;     // without software that was not given
    std::vector<NormalComponent> components{{1.0, 0.0, 0.0}};

    /// Quantile of actual over predicted ratio.
    double quantile(double probability) const;
    double low() const { return quantile(0.025); }
    double high() const { return quantile(0.975); }
};

/// On one machine, the constants and the source effect are common, and each plan's own deviation stays
/// (StepPosterior). Numbers that differ from those of the same catalog entries add FittedModel::unmeasured
/// times their distance (unlike()), and for tiers the effect of a tier of slower_tier times theirs. With
/// other accelerators, software or numbers of GPUs, errors beyond those of the constants have the fitted
/// correlation, and the covariance of the constants is that of the fit, not widened, as in the fit of these
/// correlations. Nothing that the scenarios have learned narrows it.
PairError pair_error(const StepError& first, const StepError& second, const FittedModel& model,
                     const Discrepancy& discrepancy, const MachineCorrelations& correlations);

/// What a single run takes over its expectation, as equally likely logarithms: from the quantiles of the
/// predicted distribution; {0} if there are none.
std::vector<double> run_scatter(const TimeDistribution& times);

/// Probability that one run of the second plan takes less time than one of the first. `log_ratio`: of the
/// predicted expectations, the second over the first; `repeat`: deviation of repeated runs, of each. Runs are
/// independent of each other; one plan with itself: one half.
double chance_less(const PairError& error, double log_ratio, std::span<const double> first_run,
                   std::span<const double> second_run, double repeat);

}  // namespace prismopt
