#include "optimizer/model_interval.hpp"

#include "model/phase.hpp"

#include "io/scenario.hpp"
#include "model/step/mean_step.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

constexpr double difference = 1e-3;  // of a logarithm

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

/// Whether a tier has a link's numbers, under the stack: a scenario names its tiers as it likes.
bool is_link(const NetworkTier& tier, const std::string& link, const SoftwareStack& stack)
{
    const std::vector<std::string> links = catalog_links();
    if (std::find(links.begin(), links.end(), link) == links.end()) {
        return false;
    }
    const NetworkTier of_catalog = under(catalog_link(link), stack);
    return tier.bandwidth.si == of_catalog.bandwidth.si && tier.efficiency == of_catalog.efficiency &&
           tier.latency.si == of_catalog.latency.si;
}

bool has(const FittedConstant& constant, const std::string& entry)
{
    return std::find(constant.entries.begin(), constant.entries.end(), entry) != constant.entries.end();
}

/// Step without noise; zero: the plan cannot run.
double step_s(const Setting& setting, const Cluster& cluster, const ParallelPlan& plan)
{
    PlanCompiler compiler({setting.workload, setting.phase, cluster, setting.noise, setting.memory_headroom, setting.orders});
    const auto compiled = compiler.compile(plan, CompileFor::noise_free_step);
    return std::holds_alternative<Infeasible>(compiled) ? 0.0 : noise_free_step(std::get<CompiledPlan>(compiled).graph).step_s;
}

}  // namespace

ModelInterval interval_of(double deviation)
{
    return {std::exp(-two_sided_95 * deviation), std::exp(two_sided_95 * deviation), true};
}

Cluster scaled(Cluster cluster, const FittedConstant& constant, double factor)
{
    if (has(constant, cluster.stack.name)) {
        scale_stack(cluster, constant.key, factor);
        return cluster;
    }
    if (has(constant, cluster.accelerator.name)) {
        scale_accelerator(cluster.accelerator, constant.key, factor);
        return cluster;
    }
    for (NetworkTier& tier : cluster.tiers) {
        const bool its = std::any_of(constant.entries.begin(), constant.entries.end(),
                                     [&](const std::string& link) { return is_link(tier, link, cluster.stack); });
        if (its) {
            (is(constant.key, "latency") ? tier.latency.si : tier.efficiency) *= factor;
        }
    }
    return cluster;
}

bool knows(const FittedModel& model, const Cluster& cluster)
{
    return std::any_of(model.constants.begin(), model.constants.end(), [&cluster](const FittedConstant& constant) {
        return is(constant.key, "gemm") && has(constant, cluster.accelerator.name);
    });
}

double constants_deviation(const Setting& setting, const ParallelPlan& plan, const FittedModel& model)
{
    const double base_s = step_s(setting, setting.cluster, plan);
    if (base_s <= 0.0) {
        return 0.0;
    }
    const std::size_t n = model.constants.size();
    std::vector<double> gradient(n, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
        const Cluster moved = scaled(setting.cluster, model.constants[k], std::exp(-difference));
        const double moved_s = step_s(setting, moved, plan);
        gradient[k] = moved_s > 0.0 ? std::log(base_s / moved_s) / difference : 0.0;
    }
    double variance = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            variance += gradient[i] * model.covariance[i * n + j] * gradient[j];
        }
    }
    return std::sqrt(std::max(0.0, variance));
}

ModelInterval model_interval(const Setting& setting, const ParallelPlan& plan, const FittedModel& model)
{
    if (!knows(model, setting.cluster)) {
        const double error = setting.cluster.accelerator.model_error;
        return {1.0 - error, 1.0 + error, false};
    }
    const double constants = constants_deviation(setting, plan, model);
    return interval_of(std::hypot(constants, model.scatter[static_cast<std::size_t>(kind_of(setting.workload))]));
}

ModelInterval model_interval(const Problem& problem, const ParallelPlan& plan, const FittedModel& model)
{
    const Phase& phase = problem.phases.front();
    return model_interval({problem.workload, phase, problem.cluster, problem.noise, problem.memory_headroom, problem.orders},
                          plan_in_phase(plan, phase), model);
}

}  // namespace prismopt
