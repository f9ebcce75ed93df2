#include "optimizer/accuracy/model_interval.hpp"

#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "model/predictor.hpp"
#include "optimizer/accuracy/possible_software.hpp"
#include "optimizer/accuracy/step_gradients.hpp"

#include "model/plan/phase.hpp"

#include "io/scenario/reading/scaled_cluster.hpp"
#include "model/hardware/kernel_time.hpp"
#include "model/hardware/machine_constants.hpp"
#include "model/step/graph/mean_step.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace prismopt {

namespace {

/// Distance of two values of a constant, 0 to 1, as unlike_catalog() says. Values are equal to the rounding of their units:
/// "20300 ns" is "20.3 us".
double unlikeness(double now, double before)
{
    constexpr double rounding = 1e-9;
    if (std::abs(now - before) <= rounding * std::max(std::abs(now), std::abs(before))) {
        return 0.0;
    }
    return now > 0.0 && before > 0.0 ? std::min(1.0, std::abs(std::log2(now / before))) : 1.0;
}

/// The largest distance of the constants for which `counts`.
template <class Owner, class Counts>
double unlikeness(Owner now, Owner before, Counts&& counts)
{
    double farthest = 0.0;
    for (const MachineConstant<Owner>& constant : constants_of<Owner>()) {
        if (counts(constant)) {
            farthest = std::max(farthest, unlikeness(constant.of(now), constant.of(before)));
        }
    }
    return farthest;
}

/// The cluster as the catalog has its accelerator and links, with what was learned of them.
Cluster as_in_catalog(const Cluster& cluster)
{
    Cluster result = cluster;
    const bool known = !cluster.accelerator.catalog_entry.empty();
    if (known) {
        result.accelerator = under(catalog_accelerator(cluster.accelerator.catalog_entry), cluster.stack);
    }
    for (NetworkTier& tier : result.tiers) {
        if (const std::string name = link_of(tier, cluster.stack); !name.empty()) {
            NetworkTier link = under(catalog_link(name), cluster.stack);
            for (const MachineConstant<NetworkTier>& constant : constants_of<NetworkTier>()) {
                constant.of(tier) = constant.of(link);
            }
        }
    }
    result = with_learned(std::move(result), cluster.learned, cluster.learned_time);
    result.stack = cluster.stack;  // what is not of the catalog has its learned factors already
    if (!known) {
        result.accelerator = cluster.accelerator;
    }
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        if (result.tiers[t].catalog_entry.empty()) {
            result.tiers[t] = cluster.tiers[t];
        }
    }
    return result;
}

/// Constants of links whose distances from the catalog count together.
enum class LinkConstants { bandwidth, latency };

/// `link`: the tier as_in_catalog().
double unlike_link(const NetworkTier& tier, const NetworkTier& link, LinkConstants of)
{
    if (link.catalog_entry.empty()) {
        return 1.0;
    }
    return unlikeness(tier, link, [of](const MachineConstant<NetworkTier>& constant) {
        return (constant.kind == ConstantKind::time) == (of == LinkConstants::latency);
    });
}

bool tiers_differ(const Cluster& cluster)
{
    const Cluster catalog = as_in_catalog(cluster);
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        if (unlike_link(cluster.tiers[t], catalog.tiers[t], LinkConstants::bandwidth) > 0.0 ||
            unlike_link(cluster.tiers[t], catalog.tiers[t], LinkConstants::latency) > 0.0) {
            return true;
        }
    }
    return false;
}

bool knows(const FittedModel& model, const Accelerator& accelerator) { return rows_on(model, accelerator.catalog_entry) > 0; }

/// No measured run had the software that a user describes.
bool has_own_software(const Cluster& cluster) { return cluster.stack.own || cluster.library.own; }

/// What tiers that have other numbers than their link, or no link, add to the variance: by its own share each, the effect on the
/// step of a tier that is twice as slow.
double variance_of_tiers(const Setting& setting, const ParallelPlan& plan, const CompiledPlan& compiled)
{
    constexpr double slower = 2.0;
    const Cluster& cluster = setting.cluster;
    const Cluster catalog = as_in_catalog(cluster);
    const double log_step = std::log(noise_free_step(compiled.graph).step_s);
    double variance = 0.0;
    for (const LinkConstants of : {LinkConstants::bandwidth, LinkConstants::latency}) {
        for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
            const double share = unlike_link(cluster.tiers[t], catalog.tiers[t], of);
            if (share > 0.0) {
                Cluster moved = cluster;
                NetworkTier& tier = moved.tiers[t];
                of == LinkConstants::latency ? tier.latency.si *= slower : tier.efficiency /= slower;
                variance += std::pow(share * (log_step_on(moved, setting, compiled, plan) - log_step), 2.0);
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

double deviation_of_constants(const Setting& setting, const ParallelPlan& plan, const CompiledPlan& compiled,
                              const FittedModel& model)
{
    const std::size_t n = model.constants.size();
    const std::vector<double> gradient = StepGradients(setting, model).of(compiled, plan);
    double variance = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            variance += gradient[i] * model.covariance[i * n + j] * gradient[j];
        }
    }
    const double widening = model.widening[static_cast<std::size_t>(kind_of(setting.workload, setting.cluster))];
    return std::sqrt(std::max(0.0, widening * variance) + variance_of_tiers(setting, plan, compiled));
}

double scatter_of(const Setting& setting, const FittedModel& model)
{
    return model.scatter[static_cast<std::size_t>(kind_of(setting.workload, setting.cluster))];
}

/// Calls widen() for the cluster with each software stack of the program, and its usual library: a user's are no better known.
template <class Widen>
void widen_by_known_software(const Cluster& cluster, Widen&& widen)
{
    for (const std::string& entry : catalog_stacks()) {
        Cluster other = cluster;
        other.stack = catalog_stack(entry);
        other.library = library_of(other.stack);
        widen(other);
    }
}

/// Calls widen() for the cluster with each accelerator that the fit knows: what was not measured is no better known than they
/// are.
template <class Widen>
void widen_by_measured(const Cluster& cluster, Precision precision, const FittedModel& model, Widen&& widen)
{
    for (const std::string& entry : catalog_accelerators()) {
        Cluster other = cluster;
        other.accelerator = under(catalog_accelerator(entry), cluster.stack);
        const bool has_figures = other.accelerator.peak(precision).si > 0.0 && other.accelerator.memory_bandwidth.si > 0.0;
        if (knows(model, other.accelerator) && has_figures) {
            widen(other);
        }
    }
}

}  // namespace

ModelInterval interval_of(double deviation) { return {std::exp(-two_sided_95 * deviation), std::exp(two_sided_95 * deviation)}; }

double unlike_catalog(const Cluster& cluster)
{
    const Accelerator& accelerator = cluster.accelerator;
    if (accelerator.catalog_entry.empty()) {
        return 1.0;
    }
    const Accelerator entry = as_in_catalog(cluster).accelerator;
    return std::max(unlikeness(accelerator, entry, [](const MachineConstant<Accelerator>&) { return true; }),
                    unlikeness(accelerator.multiprocessors, entry.multiprocessors));
}

double constants_deviation(const Setting& setting, const ParallelPlan& plan, const FittedModel& model)
{
    const auto compiled = compiled_without_limit(setting, plan);
    return compiled ? deviation_of_constants(setting, plan, *compiled, model) : 0.0;
}

ModelInterval model_interval(const Setting& setting, const ParallelPlan& plan, const FittedModel& model)
{
    const auto compiled = compiled_without_limit(setting, plan);
    return model_interval(setting, plan, compiled ? &*compiled : nullptr, model);
}

namespace {

/// Of the software that the setting has.
ModelInterval interval_with_its_software(const Setting& setting, const ParallelPlan& plan, const CompiledPlan* compiled,
                                         const FittedModel& model)
{
    const Accelerator& accelerator = setting.cluster.accelerator;
    const bool known = knows(model, accelerator) && !has_own_software(setting.cluster);
    const double machine_unlike = known ? unlike_catalog(setting.cluster) : 1.0;
    const bool as_measured = machine_unlike == 0.0 && !tiers_differ(setting.cluster);
    const bool borrowed = setting.cluster.stack.borrowed;
    const double unlike = borrowed ? 1.0 : machine_unlike;
    const double of_constants = compiled == nullptr ? 0.0 : deviation_of_constants(setting, plan, *compiled, model);
    double measured = std::hypot(of_constants, scatter_of(setting, model));
    const auto widen = [&](const Workload& workload, const Cluster& cluster) {
        const Setting other{workload, setting.phase, cluster, setting.noise, setting.memory_limit, setting.orders};
        measured = std::max(measured, std::hypot(constants_deviation(other, plan, model), scatter_of(other, model)));
    };
    const auto widen_in_16_bits = [&](const Cluster& cluster) {
        if (operand_bytes(setting.workload.precision) < 2.0) {
            widen(in_16_bits(setting.workload), cluster);
        }
    };
    const auto widen_by_cluster = [&](const Cluster& cluster) {
        widen(setting.workload, cluster);
        widen_in_16_bits(cluster);
    };
    widen_in_16_bits(setting.cluster);
    if (!as_measured) {
        widen_by_cluster(as_in_catalog(setting.cluster));
    }
    if (!knows(model, accelerator)) {
        widen_by_measured(setting.cluster, setting.workload.precision, model, widen_by_cluster);
    }
    if (has_own_software(setting.cluster)) {
        widen_by_known_software(setting.cluster, widen_by_cluster);
    }
    const double declared = std::log1p(accelerator.model_error) / two_sided_95;
    const double estimated = std::hypot(measured, unlike * model.unmeasured);
    ModelInterval interval = interval_of(std::max(declared, estimated));
    const bool error_given =
        knows(model, accelerator) && accelerator.model_error != catalog_accelerator(accelerator.catalog_entry).model_error;
    interval.fitted = as_measured && !borrowed && !(error_given && declared > estimated);
    return interval;
}

}  // namespace

ModelInterval model_interval(const Setting& setting, const ParallelPlan& plan, const CompiledPlan* compiled,
                             const FittedModel& model)
{
    const ModelInterval own = interval_with_its_software(setting, plan, compiled, model);
    const std::vector<PossibleSoftware>& possible = setting.cluster.possible;
    const bool measured = !setting.cluster.learned.empty();  // with the software that the job has
    if (possible.size() < 2 || measured || compiled == nullptr) {
        return own;
    }
    const std::vector<std::optional<double>> ratios = StepsBySoftware(setting).log_ratios(plan);
    std::vector<NormalPart> parts;
    for (std::size_t k = 0; k < possible.size(); ++k) {
        if (ratios[k]) {
            const Cluster cluster = with_software(setting.cluster, possible[k]);
            const Setting other{setting.workload, setting.phase, cluster, setting.noise, setting.memory_limit, setting.orders};
            const auto of_it = compiled_without_limit(other, plan);
            const ModelInterval interval = interval_with_its_software(other, plan, of_it ? &*of_it : nullptr, model);
            parts.push_back({possible[k].weight, *ratios[k], std::log(interval.high) / two_sided_95});
        }
    }
    if (parts.empty()) {
        return own;
    }
    constexpr double tail = 0.025;
    const auto [fastest, slowest] =
        std::minmax_element(parts.begin(), parts.end(), [](const NormalPart& a, const NormalPart& b) { return a.mean < b.mean; });
    return {std::exp(mixture_quantile(parts, tail)), std::exp(mixture_quantile(parts, 1.0 - tail)), own.fitted,
            std::exp(fastest->mean), std::exp(slowest->mean)};
}

ModelInterval model_interval(const Problem& problem, const ParallelPlan& plan, const FittedModel& model)
{
    return model_interval(setting_of(problem, problem.phases.front()), plan_in_phase(plan, problem.phases.front()), model);
}

ModelInterval model_interval(const Problem& problem, const CompiledRun& run, const FittedModel& model)
{
    return model_interval(setting_of(problem, problem.phases.front()), run.in_phase.front(), &run.phases.front(), model);
}

}  // namespace prismopt
