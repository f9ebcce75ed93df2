#include "optimizer/accuracy/pair_error.hpp"

#include "io/scenario/sections/catalog.hpp"
#include "model/base/powers.hpp"
#include "model/base/statistics.hpp"
#include "model/prediction.hpp"
#include "model/step/compile/plan_compiler.hpp"
#include "model/step/graph/mean_step.hpp"
#include "optimizer/accuracy/model_interval.hpp"
#include "optimizer/accuracy/possible_software.hpp"
#include "optimizer/accuracy/step_gradients.hpp"
#include "optimizer/accuracy/unlike.hpp"
#include "optimizer/space/design_text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace prismopt {

namespace {

std::vector<StepError::OfTier> effects_of_tiers(const Setting& setting, const ParallelPlan& plan)
{
    std::vector<StepError::OfTier> effects(setting.cluster.tiers.size());
    const std::optional<CompiledPlan> compiled = compiled_without_limit(setting, plan);
    if (!compiled) {
        return effects;
    }
    const double log_step = std::log(noise_free_step(compiled->graph).step_s);
    for (std::size_t t = 0; t < effects.size(); ++t) {
        Cluster narrow = setting.cluster;
        narrow.tiers[t].efficiency /= slower_tier;
        effects[t].bandwidth = log_step_on(narrow, setting, *compiled, plan) - log_step;
        Cluster late = setting.cluster;
        late.tiers[t].latency.si *= slower_tier;
        effects[t].latency = log_step_on(late, setting, *compiled, plan) - log_step;
    }
    return effects;
}

std::string entry_of(const Accelerator& accelerator)
{
    return accelerator.catalog_entry.empty() ? accelerator.name : accelerator.catalog_entry;
}

/// What of a plan's own machine was not measured: variance. Software that both have is an error in common.
double of_own_machine(const StepError& of, const MachinesDiffer& differ, const FittedModel& model)
{
    const bool unknown_software =
        differ.software && (has_own_software(of.cluster) || of.cluster.stack.borrowed);
    const bool measured = knows(model, of.cluster.accelerator) && !unknown_software;
    const double distance = measured ? unlike_catalog(of.cluster) : 1.0;
    return square(distance * model.unmeasured);
}

double of_own_tiers(const StepError& of)
{
    const Cluster catalog = as_in_catalog(of.cluster);
    double variance = 0.0;
    for (std::size_t t = 0; t < of.tiers.size(); ++t) {
        variance += square(unlike_link(of.cluster.tiers[t], catalog.tiers[t], LinkConstants::bandwidth) *
                           of.tiers[t].bandwidth);
        variance += square(unlike_link(of.cluster.tiers[t], catalog.tiers[t], LinkConstants::latency) *
                           of.tiers[t].latency);
    }
    return variance;
}

/// Tiers of one link with other numbers: by their distance from each other.
double of_tiers_between(const StepError& a, const StepError& b)
{
    double variance = 0.0;
    for (std::size_t t = 0; t < std::min(a.tiers.size(), b.tiers.size()); ++t) {
        const NetworkTier& one = a.cluster.tiers[t];
        const NetworkTier& other = b.cluster.tiers[t];
        const auto add = [&](LinkConstants of, double effect_a, double effect_b) {
            const double far = unlike_link(one, other, of);
            variance += square(far * std::max(std::abs(effect_a), std::abs(effect_b)));
        };
        add(LinkConstants::bandwidth, a.tiers[t].bandwidth, b.tiers[t].bandwidth);
        add(LinkConstants::latency, a.tiers[t].latency, b.tiers[t].latency);
    }
    return variance;
}

bool same_links(const StepError& a, const StepError& b)
{
    return std::equal(a.cluster.tiers.begin(), a.cluster.tiers.end(), b.cluster.tiers.begin(),
                      b.cluster.tiers.end(), [](const NetworkTier& one, const NetworkTier& other) {
                          return !one.catalog_entry.empty() && one.catalog_entry == other.catalog_entry;
                      });
}

bool same_tiers(const StepError& a, const StepError& b)
{
    const auto& one = a.cluster.tiers;
    const auto& other = b.cluster.tiers;
    return one.size() == other.size() &&
           std::equal(one.begin(), one.end(), other.begin(), [](const auto& x, const auto& y) {
               return x.name == y.name && x.bandwidth.si == y.bandwidth.si && x.latency.si == y.latency.si &&
                      x.efficiency == y.efficiency && x.group_gpus == y.group_gpus;
           });
}

double of_hardware(const StepError& a, const StepError& b, const MachinesDiffer& differ,
                   const FittedModel& model)
{
    double variance = 0.0;
    if (differ.machine()) {
        variance += of_own_machine(a, differ, model) + of_own_machine(b, differ, model);
    } else {
        variance += square(unlike(a.cluster.accelerator, b.cluster.accelerator) * model.unmeasured);
    }
    if (same_links(a, b)) {
        variance += of_tiers_between(a, b);
    } else if (!same_tiers(a, b)) {
        variance += of_own_tiers(a) + of_own_tiers(b);
    }
    return variance;
}

/// The error that an accelerator declares, as a standard deviation.
double declared(const StepError& of) { return std::log1p(of.cluster.accelerator.model_error) / two_sided_95; }

/// The gradient times the root of the widening of the plan's kind.
PlanOfPosterior widened(const StepError& of, const FittedModel& model)
{
    PlanOfPosterior result = of.known;
    const double factor = std::sqrt(model.widening[static_cast<std::size_t>(of.kind)]);
    for (double& slope : result.gradient) {
        slope *= factor;
    }
    return result;
}

/// Differences of log(step) by software that was not given: one program runs
/// both plans where both may have it.
std::vector<NormalComponent> software_components(const StepError& first, const StepError& second)
{
    using All = std::vector<StepError::WithSoftware>;
    const All given{{"", 1.0, 0.0}};
    const All& a = first.software.empty() ? given : first.software;
    const All& b = second.software.empty() ? given : second.software;
    const auto name_of = [](const StepError::WithSoftware& one) { return one.name; };
    const bool together = !first.software.empty() && a.size() == b.size() &&
                          std::equal(a.begin(), a.end(), b.begin(), [&](const auto& one, const auto& other) {
                              return name_of(one) == name_of(other);
                          });
    std::vector<NormalComponent> components;
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < b.size(); ++j) {
            if ((together && i != j) || !a[i].log_ratio || !b[j].log_ratio) {
                continue;
            }
            const double weight = together ? a[i].weight : a[i].weight * b[j].weight;
            components.push_back({weight, *b[j].log_ratio - *a[i].log_ratio, 0.0});
        }
    }
    return components.empty() ? std::vector<NormalComponent>{{1.0, 0.0, 0.0}} : components;
}

double normal_below(double value, double mean, double deviation)
{
    if (deviation == 0.0) {
        return value == mean ? 0.5 : (value > mean ? 1.0 : 0.0);
    }
    return 0.5 * std::erfc((mean - value) / (deviation * std::sqrt(2.0)));
}

}  // namespace

StepError step_error(const Setting& setting, const ParallelPlan& plan, const FittedModel& model)
{
    const Cluster& cluster = setting.cluster;
    StepGradients gradients(setting, model);
    StepError result{.cluster = cluster,
                     .network = setting.workload.name,
                     .kind = kind_of(setting.workload, cluster),
                     .gpus = plan.gpus(),
                     .design = design_text(plan),
                     .known = {traits_of(plan), gradients.of(plan)}};
    result.tiers = effects_of_tiers(setting, plan);
    if (cluster.possible.size() > 1 && cluster.learned.empty()) {
        const std::vector<std::optional<double>> ratios = StepsBySoftware(setting).log_ratios(plan);
        for (std::size_t k = 0; k < ratios.size(); ++k) {
            const PossibleSoftware& one = cluster.possible[k];
            result.software.push_back({one.stack.name + " " + one.software.name, one.weight, ratios[k]});
        }
    }
    return result;
}

double PairError::quantile(double probability) const
{
    if (std::all_of(components.begin(), components.end(), [](const NormalComponent& component) {
            return component.mean == 0.0 && component.deviation == 0.0;
        })) {
        return 1.0;
    }
    return std::exp(mixture_quantile(components, probability));
}

PairError pair_error(const StepError& first, const StepError& second, const FittedModel& model,
                     const Discrepancy& discrepancy, const MachineCorrelations& correlations)
{
    PairError result;
    result.differ = {.accelerator =
                         entry_of(first.cluster.accelerator) != entry_of(second.cluster.accelerator),
                     .software = first.cluster.stack.name != second.cluster.stack.name,
                     .gpus = first.gpus != second.gpus,
                     .network = first.network != second.network};
    result.correlation = correlation_of(correlations, result.differ);
    const bool one_machine = !result.differ.machine();
    PlanOfPosterior a = one_machine ? widened(first, model) : first.known;
    PlanOfPosterior b = one_machine ? widened(second, model) : second.known;
    a.job = 0;
    b.job = result.differ.network ? 1 : 0;
    result.variance = variance_of_ratio(discrepancy, model.covariance, a, b, result.correlation);
    result.variance.hardware = of_hardware(first, second, result.differ, model);
    if (result.differ.accelerator) {
        const double least = square(std::max(declared(first), declared(second)));
        result.variance.hardware += std::max(0.0, least - result.variance.sum());
    }
    result.components = software_components(first, second);
    for (NormalComponent& component : result.components) {
        component.deviation = std::sqrt(result.variance.sum());
    }
    result.same_design = !result.differ.network && first.design == second.design;
    result.same_plan = one_machine && result.same_design && result.variance.sum() == 0.0;
    return result;
}

std::vector<double> run_scatter(const TimeDistribution& times)
{
    if (times.quantiles.size() != reported_probabilities.size() || !(times.mean.value > 0.0)) {
        return {0.0};
    }
    // At the middles of equally likely parts, linear between the reported probabilities.
    constexpr int count = 64;
    std::vector<double> result;
    for (int k = 0; k < count; ++k) {
        const double probability = (k + 0.5) / count;
        const auto above =
            std::upper_bound(reported_probabilities.begin(), reported_probabilities.end(), probability);
        const auto i = static_cast<std::size_t>(above - reported_probabilities.begin());
        const double share = (probability - reported_probabilities[i - 1]) /
                             (reported_probabilities[i] - reported_probabilities[i - 1]);
        const double time = times.quantiles[i - 1] + share * (times.quantiles[i] - times.quantiles[i - 1]);
        result.push_back(std::log(time / times.mean.value));
    }
    return result;
}

double chance_less(const PairError& error, double log_ratio, std::span<const double> first_run,
                   std::span<const double> second_run, double repeat)
{
    double sum = 0.0;
    double weights = 0.0;
    for (const NormalComponent& component : error.components) {
        const double deviation = std::hypot(component.deviation, std::sqrt(2.0) * repeat);
        for (const double one : first_run) {
            for (const double other : second_run) {
                sum +=
                    component.weight * normal_below(0.0, log_ratio + component.mean + other - one, deviation);
                weights += component.weight;
            }
        }
    }
    return sum / weights;
}

}  // namespace prismopt
