#include "optimizer/accuracy/model_intervals.hpp"

#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "model/base/powers.hpp"
#include "model/hardware/kernel_time.hpp"
#include "model/plan/phase.hpp"
#include "model/prediction.hpp"
#include "model/predictor.hpp"
#include "model/step/graph/mean_step.hpp"
#include "optimizer/accuracy/unlike.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace prismopt {

namespace {

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

/// The largest standard deviation of a logarithm that such tiers can cause: no step is
/// slower by more than a tier is.
double most_of_tiers(const Cluster& cluster)
{
    const Cluster catalog = as_in_catalog(cluster);
    double squares = 0.0;
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        for (const LinkConstants of : {LinkConstants::bandwidth, LinkConstants::latency}) {
            squares += square(unlike_link(cluster.tiers[t], catalog.tiers[t], of));
        }
    }
    return std::log(slower_tier) * std::sqrt(squares);
}

Workload in_16_bits(Workload workload)
{
    workload.precision = Precision::bf16;
    return workload;
}

/// Calls widen() for the cluster with each software stack of the program, and its usual
/// library: a user's are no better known.
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

/// Calls widen() for the cluster with each accelerator that the fit knows: what was not measured is
/// no better known than they are.
template <class Widen>
void widen_by_measured(const Cluster& cluster, Precision precision, const FittedModel& model, Widen&& widen)
{
    for (const std::string& entry : catalog_accelerators()) {
        Cluster other = cluster;
        other.accelerator = under(catalog_accelerator(entry), cluster.stack);
        const bool has_figures =
            other.accelerator.peak(precision).si > 0.0 && other.accelerator.memory_bandwidth.si > 0.0;
        if (knows(model, other.accelerator) && has_figures) {
            widen(other);
        }
    }
}

}  // namespace

ModelInterval interval_of(double deviation)
{
    return {std::exp(-two_sided_95 * deviation),
            std::exp(two_sided_95 * deviation),
            false,
            1.0,
            1.0,
            {{1.0, 0.0, deviation}}};
}

std::vector<double> ModelInterval::quantiles() const
{
    std::vector<double> result;
    for (const double probability : reported_probabilities) {
        result.push_back(std::exp(mixture_quantile(components, probability)));
    }
    return result;
}

double constants_deviation(const Setting& setting, const ParallelPlan& plan, const FittedModel& model)
{
    FittedSteps steps(setting, setting.workload, setting.cluster, model);
    const auto compiled = steps.compiled(plan);
    return steps.of_constants(plan, compiled ? &*compiled : nullptr);
}

FittedSteps::FittedSteps(const Setting& setting, const Workload& workload, const Cluster& cluster,
                         const FittedModel& model)
    : model_(model), workload_(workload), cluster_(cluster), setting_{workload_,
                                                                      setting.phase,
                                                                      cluster_,
                                                                      setting.noise,
                                                                      without_limit(setting.memory_limit),
                                                                      setting.orders},
      scatter_(model.scatter[static_cast<std::size_t>(kind_of(workload, cluster))]),
      widening_(model.widening[static_cast<std::size_t>(kind_of(workload, cluster))]), compiler_(setting_),
      gradients_(setting_, model)
{
}

std::optional<CompiledPlan> FittedSteps::compiled(const ParallelPlan& plan)
{
    return compiler_.compiled(plan);
}

/// What tiers that have other numbers than their link, or no link, add to the variance: by its own share
/// each, the effect on the step of a tier that is twice as slow.
double FittedSteps::variance_of_tiers(const ParallelPlan& plan, const CompiledPlan& compiled) const
{
    const Cluster catalog = as_in_catalog(cluster_);
    const double log_step = std::log(noise_free_step(compiled.graph).step_s);
    double variance = 0.0;
    for (const LinkConstants of : {LinkConstants::bandwidth, LinkConstants::latency}) {
        for (std::size_t t = 0; t < cluster_.tiers.size(); ++t) {
            const double share = unlike_link(cluster_.tiers[t], catalog.tiers[t], of);
            if (share > 0.0) {
                Cluster moved = cluster_;
                NetworkTier& tier = moved.tiers[t];
                of == LinkConstants::latency ? tier.latency.si *= slower_tier
                                             : tier.efficiency /= slower_tier;
                variance += std::pow(share * (log_step_on(moved, setting_, compiled, plan) - log_step), 2.0);
            }
        }
    }
    return variance;
}

double FittedSteps::of_constants(const ParallelPlan& plan, const CompiledPlan* compiled)
{
    if (compiled == nullptr) {
        return 0.0;
    }
    const std::size_t n = model_.constants.size();
    const std::vector<double> gradient = gradients_.of(*compiled, plan);
    double variance = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            variance += gradient[i] * model_.covariance[i * n + j] * gradient[j];
        }
    }
    return std::sqrt(std::max(0.0, widening_ * variance) + variance_of_tiers(plan, *compiled));
}

double FittedSteps::deviation(const ParallelPlan& plan, const CompiledPlan* compiled)
{
    return std::hypot(of_constants(plan, compiled), scatter_);
}

double FittedSteps::deviation(const ParallelPlan& plan)
{
    const auto found = compiled(plan);
    return deviation(plan, found ? &*found : nullptr);
}

SoftwareIntervals::SoftwareIntervals(const Setting& setting, const FittedModel& model)
{
    const Accelerator& accelerator = setting.cluster.accelerator;
    const bool known = knows(model, accelerator) && !has_own_software(setting.cluster);
    const double machine_unlike = known ? unlike_catalog(setting.cluster) : 1.0;
    const bool as_measured = machine_unlike == 0.0 && !tiers_differ(setting.cluster);
    const bool borrowed = setting.cluster.stack.borrowed;
    const auto widen = [&](const Workload& workload, const Cluster& cluster) {
        known_.emplace_back(setting, workload, cluster, model);
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
    widen_by_cluster(setting.cluster);
    if (!as_measured) {
        widen_by_cluster(as_in_catalog(setting.cluster));
    }
    if (!knows(model, accelerator)) {
        widen_by_measured(setting.cluster, setting.workload.precision, model, widen_by_cluster);
    }
    if (has_own_software(setting.cluster)) {
        widen_by_known_software(setting.cluster, widen_by_cluster);
    }
    declared_ = std::log1p(accelerator.model_error) / two_sided_95;
    unmeasured_ = (borrowed ? 1.0 : machine_unlike) * model.unmeasured;
    of_tiers_ = most_of_tiers(setting.cluster);
    measured_ = as_measured && !borrowed;
    error_given_ = knows(model, accelerator) &&
                   accelerator.model_error != catalog_accelerator(accelerator.catalog_entry).model_error;
}

double SoftwareIntervals::least_deviation() const
{
    return std::max(declared_, std::hypot(known_.front().scatter(), unmeasured_));
}

double SoftwareIntervals::most_deviation() const
{
    return std::max(declared_, std::hypot(largest_model_deviation, unmeasured_, of_tiers_));
}

ModelInterval SoftwareIntervals::of(const ParallelPlan& plan, const CompiledPlan* compiled)
{
    double measured = known_.front().deviation(plan, compiled);
    for (std::size_t i = 1; i < known_.size(); ++i) {
        measured = std::max(measured, known_[i].deviation(plan));
    }
    const double estimated = std::hypot(measured, unmeasured_);
    ModelInterval interval = interval_of(std::max(declared_, estimated));
    interval.fitted = measured_ && !(error_given_ && declared_ > estimated);
    return interval;
}

namespace {

/// Predictions assume the first of several programs, as long as no step was measured with that of the job.
bool software_is_open(const Cluster& cluster)
{
    return cluster.possible.size() > 1 && cluster.learned.empty();
}

}  // namespace

LeastModelError least_error(const Setting& setting, const FittedModel& model)
{
    const SoftwareIntervals assumed(setting, model);
    LeastModelError::Component component{1.0, 0.0, assumed.least_deviation(), assumed.most_deviation()};
    if (!software_is_open(setting.cluster)) {
        return {{component}};
    }
    double weights = 0.0;
    for (const PossibleSoftware& software : setting.cluster.possible) {
        weights += software.weight;
    }
    component.weight = setting.cluster.possible.front().weight / weights;
    const LeastModelError::Component others{1.0 - component.weight, -std::numeric_limits<double>::infinity()};
    return {{component, others}};
}

ModelIntervals::ModelIntervals(const Setting& setting, const FittedModel& model) : own_(setting, model)
{
    if (!software_is_open(setting.cluster)) {
        return;
    }
    steps_.emplace(setting);
    for (const PossibleSoftware& software : setting.cluster.possible) {
        const Cluster cluster = with_software(setting.cluster, software);
        const Setting with_it{setting.workload, setting.phase,        cluster,
                              setting.noise,    setting.memory_limit, setting.orders};
        possible_.emplace_back(software.weight, with_it, model);
    }
}

LeastModelError ModelIntervals::least(const ParallelPlan& plan)
{
    if (!steps_) {
        return {{{1.0, 0.0, own_.least_deviation(), own_.most_deviation()}}};
    }
    const std::vector<std::optional<double>> ratios = steps_->log_ratios(plan);
    LeastModelError error;
    error.components.clear();
    double weights = 0.0;
    for (std::size_t k = 0; k < possible_.size(); ++k) {
        if (ratios[k]) {
            const SoftwareIntervals& its = possible_[k].intervals;
            error.components.push_back(
                {possible_[k].weight, *ratios[k], its.least_deviation(), its.most_deviation()});
            weights += possible_[k].weight;
        }
    }
    for (LeastModelError::Component& component : error.components) {
        component.weight /= weights;
    }
    return error;
}

ModelInterval ModelIntervals::of(const ParallelPlan& plan)
{
    const auto compiled = own_.compiled(plan);
    return of(plan, compiled ? &*compiled : nullptr);
}

ModelInterval ModelIntervals::of(const ParallelPlan& plan, const CompiledPlan* compiled)
{
    const ModelInterval own = own_.of(plan, compiled);
    if (!steps_ || compiled == nullptr) {
        return own;
    }
    const std::vector<std::optional<double>> ratios = steps_->log_ratios(plan);
    std::vector<NormalComponent> components;
    for (std::size_t k = 0; k < possible_.size(); ++k) {
        if (ratios[k]) {
            SoftwareIntervals& intervals = possible_[k].intervals;
            const auto of_it = intervals.compiled(plan);
            const ModelInterval interval = intervals.of(plan, of_it ? &*of_it : nullptr);
            components.push_back({possible_[k].weight, *ratios[k], interval.components.front().deviation});
        }
    }
    if (components.empty()) {
        return own;
    }
    constexpr double tail = 0.025;
    const auto [fastest, slowest] = std::minmax_element(
        components.begin(), components.end(),
        [](const NormalComponent& a, const NormalComponent& b) { return a.mean < b.mean; });
    return {std::exp(mixture_quantile(components, tail)),
            std::exp(mixture_quantile(components, 1.0 - tail)),
            own.fitted,
            std::exp(fastest->mean),
            std::exp(slowest->mean),
            components};
}

ModelInterval model_interval(const Setting& setting, const ParallelPlan& plan, const FittedModel& model)
{
    return ModelIntervals(setting, model).of(plan);
}

ModelInterval model_interval(const Problem& problem, const CompiledRun& run, const FittedModel& model)
{
    return ModelIntervals(setting_of(problem, problem.phases.front()), model)
        .of(run.in_phase.front(), &run.phases.front());
}

ModelInterval model_interval(const Problem& problem, const ParallelPlan& plan, const FittedModel& model)
{
    return model_interval(setting_of(problem, problem.phases.front()),
                          plan_in_phase(plan, problem.phases.front()), model);
}

}  // namespace prismopt
