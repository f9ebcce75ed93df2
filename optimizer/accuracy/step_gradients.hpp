#pragma once

/// How step times depend on the fitted constants.

#include "io/scenario/constants/fitted_model.hpp"
#include "model/step/compile/plan_compiler.hpp"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// The plan, compiled for its noise-free step without a memory limit; nothing if it is infeasible.
std::optional<CompiledPlan> compiled_without_limit(const Setting& setting, const ParallelPlan& plan);

/// Logarithm of its noise-free step time in seconds; nothing if it is infeasible.
std::optional<double> log_noise_free_step(const Setting& setting, const ParallelPlan& plan);
/// By a compiler of one's own, whose setting has no memory limit.
std::optional<double> log_noise_free_step(PlanCompiler& compiler, const ParallelPlan& plan);

/// Logarithm of the noise-free step time in seconds of a compiled plan on another cluster,
/// which differs in constants only.
double log_step_on(const Cluster& cluster, const Setting& setting, const CompiledPlan& compiled,
                   const ParallelPlan& plan);

/// Noise-free step times of plans on one cluster and on clusters with moved constants, without a memory
/// limit. Plans share what they have in common, as in PlanCompiler; use one per thread.
class StepGradients {
public:
    /// The members that `setting` refers to, and the model, must outlive it.
    StepGradients(const Setting& setting, const FittedModel& model);
    StepGradients(const StepGradients&) = delete;
    StepGradients& operator=(const StepGradients&) = delete;
    ~StepGradients() = default;

    /// Logarithm of the plan's noise-free step time in seconds; nothing if the plan is infeasible.
    std::optional<double> log_step(const ParallelPlan& plan);
    /// Its gradient by the logarithms of the constants, by finite differences; zeros for infeasible plans.
    std::vector<double> of(const ParallelPlan& plan);
    /// The same for a plan that is compiled: with its schedule and its layers.
    std::vector<double> of(const CompiledPlan& compiled, const ParallelPlan& plan);

private:
    /// For a cluster in which one constant is smaller.
    struct Moved {
        std::size_t constant;
        PlanCompiler compiler;
    };

    std::size_t constants_;
    PlanCompiler base_;
    std::deque<Cluster> clusters_;
    std::vector<Moved> moved_;  // of constants that the cluster uses
};

}  // namespace prismopt
