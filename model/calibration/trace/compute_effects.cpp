#include "model/calibration/trace/compute_effects.hpp"

#include "model/base/statistics.hpp"
#include "model/calibration/fit/goodness.hpp"
#include "model/calibration/trace/compute_components.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace prismopt {

namespace {

/// The part of the means of an effect that is the effect's own: the rest is noise of what is averaged. None
/// where the component may as well be zero.
double shrinkage(const Component& component, const std::vector<double>& means)
{
    const double seen = variance_of(means);
    const bool present = seen > 0.0 && component.low > 0.0;
    return present ? std::sqrt(std::min(1.0, component.variance / seen)) : 0.0;
}

/// Whether one variance is larger than another beyond chance, at 1 %: the F test,
/// with so many degrees of freedom.
bool significant(double larger, double smaller, double freedom, double freedom_of_smaller)
{
    if (!(larger > 0.0) || freedom < 1.0 || freedom_of_smaller < 1.0) {
        return false;
    }
    return larger > smaller * fisher_limit(freedom, freedom_of_smaller, 0.01);
}

/// The compute operations with a microbatch, without those of some workers (ascending).
std::vector<int> compute_slots(const Trace& trace, const StepGraph& graph,
                               const std::vector<std::int32_t>& excluded)
{
    std::vector<int> slots;
    for (std::size_t slot = 0; slot < graph.slots.size(); ++slot) {
        const StepSlot& s = graph.slots[slot];
        const bool counts = !std::binary_search(excluded.begin(), excluded.end(), s.worker);
        if (counts && s.microbatch >= 0 &&
            trace.kinds[static_cast<std::size_t>(s.kind)].role == OpRole::compute) {
            slots.push_back(static_cast<int>(slot));
        }
    }
    return slots;
}

/// Logarithms of durations, [slot * steps + step].
std::vector<double> log_durations(const StepGraph& graph, const std::vector<int>& slots)
{
    constexpr double shortest_s = 1e-9;
    std::vector<double> logs;
    logs.reserve(slots.size() * graph.steps.size());
    for (const int slot : slots) {
        for (std::size_t t = 0; t < graph.steps.size(); ++t) {
            const auto duration = static_cast<double>(graph.duration(static_cast<std::size_t>(slot), t));
            logs.push_back(std::log(std::max(shortest_s, duration)));
        }
    }
    return logs;
}

std::vector<double> difference(std::vector<double> y, const std::vector<double>& less)
{
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] -= less[i];
    }
    return y;
}

/// Subtracts a share of the group means from y; returns what was subtracted by group.
std::vector<double> subtract_means(const Partition& groups, double share, std::vector<double>& y)
{
    std::vector<double> means = level_means(groups, y);
    for (double& mean : means) {
        mean *= share;
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] -= means[static_cast<std::size_t>(groups.level[i])];
    }
    return means;
}

/// How each worker differs from its stage, and how sure that is: from how the
/// differences of the steps scatter.
struct WorkerDifferences {
    std::vector<double> effects;  // [worker of the trace]; not a number for those that do not compute
    std::vector<double> errors;   // standard errors
};

WorkerDifferences worker_differences(const std::vector<SlotPlace>& places, std::size_t steps,
                                     std::size_t all_workers, const OperationGroups& groups,
                                     const std::vector<double>& y)
{
    const Partition& workers = groups.workers;
    const Partition in_step = both(workers, groups.steps);
    const std::vector<double> means = level_means(workers, y);
    const std::vector<double> step_means = level_means(groups.steps, y);
    const std::vector<double> in_step_means = level_means(in_step, y);
    std::vector<char> seen(in_step_means.size(), 0);
    std::vector<std::vector<double>> differences(means.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto cell = static_cast<std::size_t>(in_step.level[i]);
        if (seen[cell] == 0) {
            seen[cell] = 1;
            const auto worker = static_cast<std::size_t>(workers.level[i]);
            differences[worker].push_back(in_step_means[cell] - step_means[i % steps]);
        }
    }
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    WorkerDifferences result{std::vector<double>(all_workers, unknown),
                             std::vector<double>(all_workers, unknown)};
    for (std::size_t k = 0; k < places.size(); ++k) {
        const auto worker = static_cast<std::size_t>(workers.level[k * steps]);
        const std::vector<double>& own = differences[worker];
        const auto place = static_cast<std::size_t>(places[k].worker);
        result.effects[place] = means[worker];
        result.errors[place] = std::sqrt(variance_of(own) / static_cast<double>(own.size()));
    }
    return result;
}

/// The share of the means of workers by kind that is the workers' own, by how well the steps agree on them.
double share_of_workers(const Partition& workers, std::size_t steps, const std::vector<double>& y)
{
    std::vector<std::vector<double>> by_step(static_cast<std::size_t>(workers.levels),
                                             std::vector<double>(steps, 0.0));
    std::vector<double> count(by_step.size(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto worker = static_cast<std::size_t>(workers.level[i]);
        by_step[worker][i % steps] += y[i];
        count[worker] += 1.0 / static_cast<double>(steps);
    }
    const auto n = static_cast<double>(by_step.size());
    std::vector<double> common(steps, 0.0);
    for (std::size_t w = 0; w < by_step.size(); ++w) {
        for (std::size_t t = 0; t < steps; ++t) {
            common[t] += by_step[w][t] / count[w] / n;
        }
    }
    double noise = 0.0;
    for (std::size_t w = 0; w < by_step.size(); ++w) {
        for (std::size_t t = 0; t < steps; ++t) {
            by_step[w][t] = by_step[w][t] / count[w] - common[t];
        }
        noise += variance_of(by_step[w]) / static_cast<double>(steps * by_step.size());
    }
    const double seen = variance_of(level_means(workers, y));
    const bool differ = significant(seen, noise, n - 1.0, n * static_cast<double>(steps - 1));
    return differ ? 1.0 - noise / seen : 0.0;
}

/// Whether microbatches of a replica, or of one of its stages, are correlated in a step: whether their means
/// vary more than they do by themselves.
bool vary_together(const Partition& groups, const Partition& microbatches, const std::vector<double>& y)
{
    const Partition members = both(groups, microbatches);
    const std::vector<double> member = level_means(members, y);
    const std::vector<double> group = level_means(groups, y);
    std::vector<int> group_of(member.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
        group_of[static_cast<std::size_t>(members.level[i])] = groups.level[i];
    }
    double within = 0.0;
    double between = 0.0;
    for (std::size_t m = 0; m < member.size(); ++m) {
        const double mean = group[static_cast<std::size_t>(group_of[m])];
        within += (member[m] - mean) * (member[m] - mean);
        between += mean * mean;
    }
    const double freedom = groups.levels - 1.0;
    const double freedom_within = members.levels - groups.levels;
    return freedom_within < 1.0 ||
           significant(between / freedom, within / freedom_within, freedom, freedom_within);
}

/// Stretches the group means to a variance. What was subtracted as the effect of a step took part of them
/// with it: with few replicas the mean of a step follows each.
void stretch_means(const Partition& groups, double variance, std::vector<double>& y)
{
    const std::vector<double> means = level_means(groups, y);
    const double seen = variance_of(means);
    const bool narrow = seen > 0.0 && variance > seen;
    const double more = narrow ? std::sqrt(variance / seen) - 1.0 : 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] += more * means[static_cast<std::size_t>(groups.level[i])];
    }
}

/// Effects of microbatches, and residuals, scaled to the variances of their components.
struct MicrobatchEffects {
    std::vector<double> effects;    // [microbatch of a replica in a step]
    std::vector<double> residuals;  // [slot * steps + step]
};

/// `y`: the remainder of the durations, without what exponents add.
MicrobatchEffects microbatch_effects(const OperationGroups& groups, bool exponents,
                                     const ComputeComponents& components, std::vector<double> y)
{
    MicrobatchEffects result;
    std::vector<double> means = level_means(groups.microbatches, y);
    const double share = shrinkage(components.microbatch, means);
    for (const double mean : means) {
        result.effects.push_back(share * mean);
    }
    // the mean microbatch of a replica in a step enters each kind and stage with its exponent
    if (exponents) {
        subtract_means(both(groups.replica_steps, groups.cells), 1.0, y);
        means = level_means(groups.microbatches, y);
    }
    const double subtracted = components.microbatch.low > 0.0 ? 1.0 : 0.0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] -= subtracted * means[static_cast<std::size_t>(groups.microbatches.level[i])];
    }
    const double seen = variance_of(y);
    const double target = components.residual.variance;
    const bool both_vary = seen > 0.0 && target > 0.0;
    const double stretch = both_vary ? std::sqrt(target / seen) : 1.0;
    for (double& value : y) {
        value *= stretch;
    }
    result.residuals = std::move(y);
    return result;
}

}  // namespace

ComputeEffects compute_effects(const Trace& trace, const StepGraph& graph,
                               const std::vector<std::int32_t>& excluded)
{
    ComputeEffects of_compute;
    of_compute.slots = compute_slots(trace, graph, excluded);
    const std::size_t steps = graph.steps.size();
    if (of_compute.slots.empty() || steps == 0) {
        return of_compute;
    }
    const std::vector<SlotPlace> places = places_of(trace, graph, of_compute.slots);
    const OperationGroups groups = groups_of(places, steps);
    std::vector<double> rest = log_durations(graph, of_compute.slots);
    const std::vector<double> cell_means = subtract_means(groups.cells, 1.0, rest);

    const ExponentFit fit = fit_exponents(places, steps, groups, rest);
    const bool exponents = !fit.exponents.empty();
    const ComputeComponents components =
        compute_components(groups, steps, fit.exponents, difference(rest, fit.beyond));

    WorkerDifferences workers = worker_differences(places, steps, trace.workers.size(), groups, rest);
    const double own_share = share_of_workers(groups.worker_kinds, steps, rest);
    const std::vector<double> worker_means = subtract_means(groups.worker_kinds, own_share, rest);
    for (std::size_t k = 0; k < places.size(); ++k) {
        const auto cell = static_cast<std::size_t>(groups.cells.level[k * steps]);
        const auto worker = static_cast<std::size_t>(groups.worker_kinds.level[k * steps]);
        of_compute.place.push_back(static_cast<float>(cell_means[cell] + worker_means[worker]));
    }

    of_compute.step_means = level_means(groups.steps, rest);
    const double replica_variance = variance_of(level_means(groups.replica_steps, rest));
    const std::vector<double> step_effects =
        subtract_means(groups.steps, shrinkage(components.step, of_compute.step_means), rest);
    of_compute.step.assign(step_effects.begin(), step_effects.end());
    of_compute.replicas_together = vary_together(groups.replica_steps, groups.microbatches, rest) ||
                                   vary_together(groups.stage_steps, groups.microbatches, rest);
    stretch_means(groups.replica_steps, replica_variance - components.step.variance, rest);
    of_compute.rest.assign(rest.begin(), rest.end());

    MicrobatchEffects effects =
        microbatch_effects(groups, exponents, components, difference(std::move(rest), fit.beyond));
    of_compute.microbatch_effects = std::move(effects.effects);
    of_compute.residuals = std::move(effects.residuals);
    of_compute.worker_effects = std::move(workers.effects);
    of_compute.worker_errors = std::move(workers.errors);
    of_compute.exponents = fit.exponents;
    of_compute.components = {components.step, components.gpu, components.stage, components.microbatch,
                             components.residual};
    return of_compute;
}

}  // namespace prismopt
