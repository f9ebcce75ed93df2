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

/// Compiles plans for their noise-free steps. Plans near each other share what a compiler keeps of them. With
/// one compiler for each of many constants, that is about half a megabyte per plan, so a compiler begins anew
/// after some plans. Use one per thread.
class NoiseFreeCompiler {
public:
    /// The members that `setting` refers to must outlive it.
    explicit NoiseFreeCompiler(const Setting& setting) : setting_(setting) {}

    /// Nothing if the plan is infeasible. Valid until the next call.
    std::optional<CompiledPlan> compiled(const ParallelPlan& plan);
    /// Logarithm of the noise-free step time in seconds; nothing if the plan is infeasible.
    std::optional<double> log_step(const ParallelPlan& plan);
    /// The same for a plan that is compiled for a cluster that differs in constants only.
    double log_step(const CompiledPlan& compiled, const ParallelPlan& plan);

private:
    PlanCompiler& compiler();

    Setting setting_;
    std::optional<PlanCompiler> compiler_{};
    int plans_ = 0;  // that compiler_ has compiled
};

/// Logarithm of the noise-free step time in seconds of a compiled plan on another cluster,
/// which differs in constants only.
double log_step_on(const Cluster& cluster, const Setting& setting, const CompiledPlan& compiled,
                   const ParallelPlan& plan);

/// Noise-free step times of plans on one cluster and on clusters with moved constants, without a memory
/// limit. Plans near each other share what they have in common, as in PlanCompiler; use one per thread.
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
        NoiseFreeCompiler compiler;
    };

    std::size_t constants_;
    NoiseFreeCompiler base_;
    std::deque<Cluster> clusters_;
    std::vector<Moved> moved_;  // of constants that the cluster uses
};

}  // namespace prismopt
