#include "optimizer/accuracy/model_interval.hpp"

#include "model/plan/phase.hpp"

#include "io/scenario/scenario.hpp"
#include "model/hardware/kernel_time.hpp"
#include "model/step/graph/mean_step.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

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

/// The link that a tier was made from, or whose numbers it has: a scenario names its tiers as it likes. Empty: of none.
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

bool has(const FittedConstant& constant, const std::string& entry)
{
    return std::find(constant.entries.begin(), constant.entries.end(), entry) != constant.entries.end();
}

double& constant_of(NetworkTier& tier, const std::string& key) { return is(key, "latency") ? tier.latency.si : tier.efficiency; }

/// 0 to 1, as unlike_catalog() says.
double unlikeness(std::initializer_list<std::pair<double, double>> now_and_before)
{
    const double full = std::log(2.0);
    double farthest = 0.0;
    for (const auto& [now, before] : now_and_before) {
        if (now != before) {
            farthest = std::max(farthest, now > 0.0 && before > 0.0 ? std::abs(std::log(now / before)) : full);
        }
    }
    return std::min(1.0, farthest / full);
}

/// Of the constant that a tier has under this key.
double unlike_link(const NetworkTier& tier, const std::string& key, const SoftwareStack& stack)
{
    const std::string name = link_of(tier, stack);
    if (name.empty()) {
        return 1.0;
    }
    const NetworkTier link = under(catalog_link(name), stack);
    return is(key, "latency") ? unlikeness({{tier.latency.si, link.latency.si}})
                              : unlikeness({{tier.bandwidth.si, link.bandwidth.si},
                                            {tier.efficiency, link.efficiency},
                                            {tier.in_network, link.in_network},
                                            {tier.point_to_point, link.point_to_point}});
}

bool tiers_differ(const Cluster& cluster)
{
    return std::any_of(cluster.tiers.begin(), cluster.tiers.end(), [&cluster](const NetworkTier& tier) {
        return unlike_link(tier, "efficiency", cluster.stack) > 0.0 || unlike_link(tier, "latency", cluster.stack) > 0.0;
    });
}

/// The cluster as the catalog has its accelerator and links.
Cluster as_in_catalog(Cluster cluster)
{
    Accelerator& accelerator = cluster.accelerator;
    if (!accelerator.catalog_entry.empty()) {
        accelerator = under(catalog_accelerator(accelerator.catalog_entry), cluster.stack);
    }
    for (NetworkTier& tier : cluster.tiers) {
        if (!tier.catalog_entry.empty()) {
            const NetworkTier link = under(catalog_link(tier.catalog_entry), cluster.stack);
            tier.bandwidth = link.bandwidth;
            tier.efficiency = link.efficiency;
            tier.latency = link.latency;
            tier.in_network = link.in_network;
            tier.point_to_point = link.point_to_point;
        }
    }
    return cluster;
}

/// Whether the accelerator's share for products is among the fitted constants: without it the fit says nothing of it.
bool knows(const FittedModel& model, const Accelerator& accelerator)
{
    return std::any_of(model.constants.begin(), model.constants.end(), [&accelerator](const FittedConstant& constant) {
        return is(constant.key, "gemm") && has(constant, accelerator.catalog_entry);
    });
}

/// Whether scaling the constant changes the cluster.
bool uses(const Cluster& cluster, const FittedConstant& constant)
{
    return has(constant, cluster.stack.name) || has(constant, cluster.accelerator.catalog_entry) ||
           std::any_of(cluster.tiers.begin(), cluster.tiers.end(),
                       [&](const NetworkTier& tier) { return has(constant, link_of(tier, cluster.stack)); });
}

/// Logarithms of a plan's step time without noise, by cluster.
class StepTimes {
public:
    StepTimes(const Setting& setting, const ParallelPlan& plan) : setting_(setting), plan_(plan), base_(at(setting.cluster)) {}

    bool finite() const { return std::isfinite(base_); }
    /// By the logarithm of a constant: `moved` has it exp(-difference) times as large.
    double gradient(const Cluster& moved) const { return -change(moved) / difference; }
    /// Zero where such a plan cannot run.
    double change(const Cluster& moved) const
    {
        const double there = at(moved);
        return std::isfinite(there) ? there - base_ : 0.0;
    }

private:
    double at(const Cluster& cluster) const
    {
        constexpr double no_memory_limit = -1e3;
        PlanCompiler compiler({setting_.workload, setting_.phase, cluster, setting_.noise, no_memory_limit, setting_.orders});
        const auto compiled = compiler.compile(plan_, CompileFor::noise_free_step);
        return std::holds_alternative<Infeasible>(compiled)
                   ? std::numeric_limits<double>::quiet_NaN()
                   : std::log(noise_free_step(std::get<CompiledPlan>(compiled).graph).step_s);
    }

    const Setting& setting_;
    const ParallelPlan& plan_;
    double base_;
};

/// What tiers that have other numbers than their link, or no link, add to the variance: by its own share each, the effect on the step of
/// a tier that is twice as slow.
double variance_of_tiers(const Cluster& cluster, const StepTimes& times)
{
    constexpr double slower = 2.0;
    double variance = 0.0;
    for (const char* key : {"efficiency", "latency"}) {
        for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
            const double share = unlike_link(cluster.tiers[t], key, cluster.stack);
            if (share > 0.0) {
                Cluster moved = cluster;
                constant_of(moved.tiers[t], key) *= is(key, "latency") ? slower : 1.0 / slower;
                variance += std::pow(share * times.change(moved), 2.0);
            }
        }
    }
    return variance;
}

Workload in_16_bits(Workload workload)
{
    workload.precision = Precision::bf16;
    return workload;
}

/// hypot(constants, scatter) of a plan on a cluster.
double measured_deviation(const Setting& setting, const ParallelPlan& plan, const FittedModel& model)
{
    return std::hypot(constants_deviation(setting, plan, model),
                      model.scatter[static_cast<std::size_t>(kind_of(setting.workload))]);
}

/// Calls widen() for the cluster with each accelerator that the fit knows: what was not measured is no better known than they are.
template <class Widen>
void widen_by_measured(const Cluster& cluster, Precision precision, const FittedModel& model, Widen&& widen)
{
    for (const std::string& entry : catalog_accelerators()) {
        Cluster other = cluster;
        other.accelerator = under(catalog_accelerator(entry), cluster.stack);
        if (knows(model, other.accelerator) && other.accelerator.peak(precision).si > 0.0) {
            widen(other);
        }
    }
}

}  // namespace

ModelInterval interval_of(double deviation) { return {std::exp(-two_sided_95 * deviation), std::exp(two_sided_95 * deviation)}; }

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

double unlike_catalog(const Accelerator& accelerator, const SoftwareStack& stack)
{
    if (accelerator.catalog_entry.empty()) {
        return 1.0;
    }
    const Accelerator entry = under(catalog_accelerator(accelerator.catalog_entry), stack);
    const Efficiency& now = accelerator.efficiency;
    const Efficiency& before = entry.efficiency;
    return unlikeness({{accelerator.peak_bf16.si, entry.peak_bf16.si},
                       {accelerator.peak_fp32.si, entry.peak_fp32.si},
                       {accelerator.peak_tf32.si, entry.peak_tf32.si},
                       {accelerator.peak_fp8.si, entry.peak_fp8.si},
                       {accelerator.peak_fp4.si, entry.peak_fp4.si},
                       {accelerator.sustained_clock, entry.sustained_clock},
                       {accelerator.multiprocessors, entry.multiprocessors},
                       {accelerator.memory_bandwidth.si, entry.memory_bandwidth.si},
                       {accelerator.host_link.si, entry.host_link.si},
                       {accelerator.host_memory_bandwidth.si, entry.host_memory_bandwidth.si},
                       {accelerator.launch.si, entry.launch.si},
                       {now.gemm, before.gemm},
                       {now.gemm_low, before.gemm_low},
                       {now.attention, before.attention},
                       {now.attention_backward, before.attention_backward},
                       {now.memory, before.memory}});
}

double constants_deviation(const Setting& setting, const ParallelPlan& plan, const FittedModel& model)
{
    const StepTimes times(setting, plan);
    if (!times.finite()) {
        return 0.0;
    }
    const std::size_t n = model.constants.size();
    std::vector<double> gradient(n, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
        if (uses(setting.cluster, model.constants[k])) {
            gradient[k] = times.gradient(scaled(setting.cluster, model.constants[k], std::exp(-difference)));
        }
    }
    double variance = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            variance += gradient[i] * model.covariance[i * n + j] * gradient[j];
        }
    }
    const double widening = model.widening[static_cast<std::size_t>(kind_of(setting.workload))];
    return std::sqrt(std::max(0.0, widening * variance) + variance_of_tiers(setting.cluster, times));
}

ModelInterval model_interval(const Setting& setting, const ParallelPlan& plan, const FittedModel& model)
{
    const Accelerator& accelerator = setting.cluster.accelerator;
    const double unlike = knows(model, accelerator) ? unlike_catalog(accelerator, setting.cluster.stack) : 1.0;
    const bool as_measured = unlike == 0.0 && !tiers_differ(setting.cluster);
    double measured = 0.0;
    const auto widen = [&](const Workload& workload, const Cluster& cluster) {
        measured = std::max(measured, measured_deviation({workload, setting.phase, cluster, setting.noise,
                                                          setting.memory_headroom, setting.orders},
                                                         plan, model));
    };
    const auto widen_by_precision = [&](const Cluster& cluster) {
        widen(setting.workload, cluster);
        if (operand_bytes(setting.workload.precision) < 2.0) {
            widen(in_16_bits(setting.workload), cluster);
        }
    };
    widen_by_precision(setting.cluster);
    if (!as_measured) {
        widen_by_precision(as_in_catalog(setting.cluster));
    }
    if (!knows(model, accelerator)) {
        widen_by_measured(setting.cluster, setting.workload.precision, model, widen_by_precision);
    }
    const double declared = std::log1p(accelerator.model_error) / two_sided_95;
    const double estimated = std::hypot(measured, unlike * model.unmeasured);
    ModelInterval interval = interval_of(std::max(declared, estimated));
    const bool error_given =
        knows(model, accelerator) && accelerator.model_error != catalog_accelerator(accelerator.catalog_entry).model_error;
    interval.fitted = as_measured && !(error_given && declared > estimated);
    return interval;
}

ModelInterval model_interval(const Problem& problem, const ParallelPlan& plan, const FittedModel& model)
{
    const Phase& phase = problem.phases.front();
    return model_interval({problem.workload, phase, problem.cluster, problem.noise, problem.memory_headroom, problem.orders},
                          plan_in_phase(plan, phase), model);
}

}  // namespace prismopt
