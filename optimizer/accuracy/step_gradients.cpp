#include "optimizer/accuracy/step_gradients.hpp"

#include "io/scenario/scenario.hpp"
#include "model/step/graph/mean_step.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace prismopt {

namespace {

constexpr double difference = 1e-3;  // of a logarithm
constexpr double no_memory_limit = -1e3;

bool is(const std::string& text, const char* other) { return text == other; }

void scale_accelerator(Accelerator& a, const std::string& key, double factor)
{
    Efficiency& e = a.efficiency;
    if (is(key, "launch")) {
        a.launch.si *= factor;
        return;
    }
    (is(key, "gemm")                 ? e.gemm
     : is(key, "gemm_low")           ? e.gemm_low
     : is(key, "attention")          ? e.attention
     : is(key, "attention_backward") ? e.attention_backward
                                     : e.memory) *= factor;
}

/// Shares of a stack are part of the accelerator's and of the tiers'.
void scale_stack(Cluster& cluster, const std::string& key, double factor)
{
    Efficiency& e = cluster.accelerator.efficiency;
    SoftwareStack& s = cluster.stack;
    if (is(key, "gemm")) {
        e.gemm *= factor;
        e.gemm_low *= factor;
    } else if (is(key, "attention")) {
        e.attention *= factor;
        e.attention_backward *= factor;
    } else if (is(key, "memory")) {
        e.memory *= factor;
    } else if (is(key, "network")) {
        for (NetworkTier& tier : cluster.tiers) {
            tier = under(tier, SoftwareStack{.network = factor});
        }
    } else {
        (is(key, "routing") ? s.routing
         : is(key, "host")  ? s.host.si
         : is(key, "step")  ? s.step.si
                            : s.communication_share) *= factor;
    }
}

bool has(const FittedConstant& constant, const std::string& entry)
{
    return std::find(constant.entries.begin(), constant.entries.end(), entry) != constant.entries.end();
}

double& constant_of(NetworkTier& tier, const std::string& key) { return is(key, "latency") ? tier.latency.si : tier.efficiency; }

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

std::string link_of(const NetworkTier& tier, const SoftwareStack& stack)
{
    if (!tier.catalog_entry.empty()) {
        return tier.catalog_entry;
    }
    for (const std::string& link : catalog_links()) {
        const NetworkTier of_catalog = under(catalog_link(link), stack);
        if (tier.bandwidth.si == of_catalog.bandwidth.si && tier.efficiency == of_catalog.efficiency &&
            tier.latency.si == of_catalog.latency.si) {
            return link;
        }
    }
    return {};
}

Cluster scaled(Cluster cluster, const FittedConstant& constant, double factor)
{
    if (has(constant, cluster.stack.name)) {
        scale_stack(cluster, constant.key, factor);
        return cluster;
    }
    if (has(constant, cluster.accelerator.catalog_entry)) {
        scale_accelerator(cluster.accelerator, constant.key, factor);
        return cluster;
    }
    for (NetworkTier& tier : cluster.tiers) {
        if (has(constant, link_of(tier, cluster.stack))) {
            constant_of(tier, constant.key) *= factor;
        }
    }
    return cluster;
}

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
