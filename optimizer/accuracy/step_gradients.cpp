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

bool has(const FittedConstant& constant, const std::string& entry)
{
    return std::find(constant.entries.begin(), constant.entries.end(), entry) != constant.entries.end();
}

/// Whether scaling the constant changes the cluster.
bool uses(const Cluster& cluster, const FittedConstant& constant)
{
    return has(constant, cluster.stack.name) || has(constant, cluster.accelerator.catalog_entry) ||
           std::any_of(cluster.tiers.begin(), cluster.tiers.end(),
                       [&](const NetworkTier& tier) { return has(constant, link_of(tier, cluster.stack)); });
}

Setting without_memory_limit(Setting setting)
{
    setting.memory_headroom = no_memory_limit;
    return setting;
}

std::optional<double> log_step_of(PlanCompiler& compiler, const ParallelPlan& plan)
{
    const auto compiled = compiler.compile(plan, CompileFor::noise_free_step);
    return std::holds_alternative<Infeasible>(compiled)
               ? std::nullopt
               : std::optional(std::log(noise_free_step(std::get<CompiledPlan>(compiled).graph).step_s));
}

}  // namespace

std::optional<double> log_noise_free_step(const Setting& setting, const ParallelPlan& plan)
{
    PlanCompiler compiler(without_memory_limit(setting));
    return log_step_of(compiler, plan);
}

StepGradients::StepGradients(const Setting& setting, const FittedModel& model)
    : constants_(model.constants.size()), base_(without_memory_limit(setting))
{
    for (std::size_t k = 0; k < constants_; ++k) {
        if (uses(setting.cluster, model.constants[k])) {
            clusters_.push_back(scaled(setting.cluster, model.constants[k], std::exp(-difference)));
            moved_.push_back({k, PlanCompiler({setting.workload, setting.phase, clusters_.back(), setting.noise, no_memory_limit,
                                               setting.orders})});
        }
    }
}

std::optional<double> StepGradients::log_step(const ParallelPlan& plan) { return log_step_of(base_, plan); }

std::vector<double> StepGradients::of(const ParallelPlan& plan)
{
    std::vector<double> gradient(constants_, 0.0);
    const auto base = log_step(plan);
    for (Moved& moved : moved_) {
        const auto there = base ? log_step_of(moved.compiler, plan) : std::nullopt;
        gradient[moved.constant] = there ? (*base - *there) / difference : 0.0;
    }
    return gradient;
}

}  // namespace prismopt
