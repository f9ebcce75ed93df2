#pragma once

/// Model intervals of many plans: what these share is computed once.

#include "model/promise.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/accuracy/possible_software.hpp"
#include "optimizer/accuracy/step_gradients.hpp"

#include <deque>
#include <optional>

namespace prismopt {

/// How well the steps of plans are known with one network on one cluster, from the fit alone.
class FittedSteps {
public:
    /// The phase, noise and orders of the setting, and the model, must outlive it.
    FittedSteps(const Setting& setting, const Workload& workload, const Cluster& cluster,
                const FittedModel& model);
    FittedSteps(const FittedSteps&) = delete;
    FittedSteps& operator=(const FittedSteps&) = delete;
    ~FittedSteps() = default;

    double scatter() const { return scatter_; }
    std::optional<CompiledPlan> compiled(const ParallelPlan& plan);
    /// constants_deviation() of a plan; `compiled`: null for an infeasible one.
    double of_constants(const ParallelPlan& plan, const CompiledPlan* compiled);
    /// With the scatter.
    double deviation(const ParallelPlan& plan, const CompiledPlan* compiled);
    double deviation(const ParallelPlan& plan);

private:
    double variance_of_tiers(const ParallelPlan& plan, const CompiledPlan& compiled) const;

    const FittedModel& model_;
    Workload workload_;
    Cluster cluster_;
    Setting setting_;
    double scatter_;
    double widening_;
    NoiseFreeCompiler compiler_;
    StepGradients gradients_;
};

/// Model intervals of plans with one software.
class SoftwareIntervals {
public:
    /// As for FittedSteps.
    SoftwareIntervals(const Setting& setting, const FittedModel& model);

    /// `compiled`: for this setting, or null for an infeasible plan.
    ModelInterval of(const ParallelPlan& plan, const CompiledPlan* compiled);
    std::optional<CompiledPlan> compiled(const ParallelPlan& plan) { return known_.front().compiled(plan); }
    /// No plan's logarithm has a smaller standard deviation.
    double least_deviation() const;
    /// Nor a larger one, if that of the fit is at most largest_model_deviation.
    double most_deviation() const;

private:
    double declared_ = 0.0;    // deviation, at least
    double unmeasured_ = 0.0;  // beside what the fit knows
    double of_tiers_ = 0.0;    // at most, of those with other numbers than their link
    bool measured_ = false;
    bool error_given_ = false;       // by the scenario
    std::deque<FittedSteps> known_;  // as the setting has it; then others, than which it is no better known
};

/// What is known of the errors of all plans of a setting.
LeastModelError least_error(const Setting& setting, const FittedModel& model);

/// Model intervals of the plans of one setting. Plans share what they have in common, as in
/// PlanCompiler; use one per thread.
class ModelIntervals {
public:
    /// The members that `setting` refers to, and the model, must outlive it.
    ModelIntervals(const Setting& setting, const FittedModel& model);

    ModelInterval of(const ParallelPlan& plan);
    /// `compiled`: for this setting, or null for an infeasible plan.
    ModelInterval of(const ParallelPlan& plan, const CompiledPlan* compiled);
    /// What the steps of a feasible plan with each software say of its error; without gradients by constants,
    /// which take most of the time of an interval.
    LeastModelError least(const ParallelPlan& plan);

private:
    struct Possible {
        Possible(double its_weight, const Setting& setting, const FittedModel& model)
            : weight(its_weight), intervals(setting, model)
        {
        }

        double weight;
        SoftwareIntervals intervals;
    };

    SoftwareIntervals own_;
    std::optional<StepsBySoftware> steps_;  // nothing: the software is known
    std::deque<Possible> possible_;
};

}  // namespace prismopt
