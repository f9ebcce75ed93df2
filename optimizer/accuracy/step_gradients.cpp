#include "optimizer/accuracy/step_gradients.hpp"

#include "io/scenario/reading/scaled_cluster.hpp"
#include "model/step/graph/mean_step.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace prismopt {

namespace {

constexpr double difference = 1e-3;  // of a logarithm

double log_step_of(const ExecutionGraph& graph) { return std::log(noise_free_step(graph).step_s); }

std::optional<CompiledPlan> compiled_by(PlanCompiler& compiler, const ParallelPlan& plan)
{
    auto compiled = compiler.compile(plan, CompileFor::noise_free_step);
    auto* found = std::get_if<CompiledPlan>(&compiled);
    return found == nullptr ? std::nullopt : std::optional(std::move(*found));
}

}  // namespace

std::optional<CompiledPlan> compiled_without_limit(const Setting& setting, const ParallelPlan& plan)
{
    PlanCompiler compiler(without_memory_limit(setting));
    return compiled_by(compiler, plan);
}

std::optional<double> log_noise_free_step(const Setting& setting, const ParallelPlan& plan)
{
    const auto compiled = compiled_without_limit(setting, plan);
    return compiled ? std::optional(log_step_of(compiled->graph)) : std::nullopt;
}

PlanCompiler& NoiseFreeCompiler::compiler()
{
    constexpr int most_plans = 64;  // 30 MB with all constants
    if (!compiler_ || plans_ == most_plans) {
        compiler_.emplace(setting_);
        plans_ = 0;
    }
    ++plans_;
    return *compiler_;
}

std::optional<CompiledPlan> NoiseFreeCompiler::compiled(const ParallelPlan& plan)
{
    return compiled_by(compiler(), plan);
}

std::optional<double> NoiseFreeCompiler::log_step(const ParallelPlan& plan)
{
    const auto found = compiled(plan);
    return found ? std::optional(log_step_of(found->graph)) : std::nullopt;
}

double NoiseFreeCompiler::log_step(const CompiledPlan& compiled, const ParallelPlan& plan)
{
    return log_step_of(compiler().graph_of(compiled, plan));
}

double log_step_on(const Cluster& cluster, const Setting& setting, const CompiledPlan& compiled,
                   const ParallelPlan& plan)
{
    PlanCompiler compiler(
        {setting.workload, setting.phase, cluster, setting.noise, no_memory_limit, setting.orders});
    return log_step_of(compiler.graph_of(compiled, plan));
}

StepGradients::StepGradients(const Setting& setting, const FittedModel& model)
    : constants_(model.constants.size()), base_(without_memory_limit(setting))
{
    for (std::size_t k = 0; k < constants_; ++k) {
        if (uses(setting.cluster, model.constants[k])) {
            clusters_.push_back(scaled(setting.cluster, model.constants[k], std::exp(-difference)));
            moved_.push_back({k, NoiseFreeCompiler({setting.workload, setting.phase, clusters_.back(),
                                                    setting.noise, no_memory_limit, setting.orders})});
        }
    }
}

std::optional<double> StepGradients::log_step(const ParallelPlan& plan) { return base_.log_step(plan); }

std::vector<double> StepGradients::of(const ParallelPlan& plan)
{
    const auto compiled = base_.compiled(plan);
    return compiled ? of(*compiled, plan) : std::vector<double>(constants_, 0.0);
}

std::vector<double> StepGradients::of(const CompiledPlan& compiled, const ParallelPlan& plan)
{
    std::vector<double> gradient(constants_, 0.0);
    const double base = log_step_of(compiled.graph);
    for (Moved& moved : moved_) {
        gradient[moved.constant] = (base - moved.compiler.log_step(compiled, plan)) / difference;
    }
    return gradient;
}

}  // namespace prismopt
