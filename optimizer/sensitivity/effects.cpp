#include "optimizer/sensitivity/effects.hpp"

#include "model/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace prismopt {

using namespace literals;

namespace {

/// Hardware parameters that move times; latency is turned down, the others up.
std::vector<HardwareParameter> hardware_parameters_of(const Scenario& scenario)
{
    std::vector<HardwareParameter> hardware_parameters;
    const Cluster& cluster = scenario.cluster;
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        for (const HardwareTarget target :
             {HardwareTarget::bandwidth, HardwareTarget::latency, HardwareTarget::aggregate}) {
            if (target != HardwareTarget::aggregate || cluster.tiers[t].circuit()) {
                hardware_parameters.push_back(
                    {.target = target,
                     .tier = t,
                     .name = cluster.tiers[t].name + "." + std::string(name(target))});
            }
        }
    }
    for (const HardwareTarget target :
         {HardwareTarget::memory_bandwidth, HardwareTarget::compute, HardwareTarget::power}) {
        hardware_parameters.push_back({.target = target, .name = std::string(name(target))});
    }
    for (HardwareParameter& parameter : hardware_parameters) {
        const auto priced =
            std::find_if(scenario.choices.begin(), scenario.choices.end(),
                         [&parameter](const StudyChoice& choice) { return choice.name == parameter.name; });
        if (priced != scenario.choices.end() && priced->hardware) {
            parameter.price_per_unit = priced->hardware->price_per_unit;
        }
    }
    return hardware_parameters;
}

/// Kernels that go by one name: a class with all within it, or the collectives of one kind in all groups.
struct NamedKernels {
    std::string name;
    std::vector<KernelClass> classes;  // that are changed
    std::vector<KernelClass> held;     // those of them, and within them, that the plan has
    bool of_kind = false;              // collectives of one kind
};

/// All names, in the order of the classes. `of_plan`: classes that it has kernels of.
std::vector<NamedKernels> named_kernels(const std::vector<KernelClass>& of_plan)
{
    std::vector<NamedKernels> list;
    for (const KernelClassRow& row : kernel_class_rows) {
        NamedKernels& named = list.emplace_back(NamedKernels{std::string(row.name), {row.kernel}, {}});
        std::copy_if(of_plan.begin(), of_plan.end(), std::back_inserter(named.held),
                     [&](KernelClass kernel) { return is_within(kernel, row.kernel); });
    }
    for (const Named<Collective>& kind : names_of<Collective>) {
        NamedKernels& named = list.emplace_back(NamedKernels{std::string(kind.name), {}, {}, true});
        for (const KernelClassRow& row : kernel_class_rows) {
            if (row.kind == kind.value) {
                named.classes.push_back(row.kernel);
            }
        }
        std::copy_if(of_plan.begin(), of_plan.end(), std::back_inserter(named.held),
                     [&](KernelClass kernel) { return row_of(kernel).kind == kind.value; });
    }
    return list;
}

/// Classes and kinds that the plan has kernels of; of classes with the same ones the
/// narrowest, and kinds in several groups.
std::vector<NamedKernels> different(const std::vector<NamedKernels>& all)
{
    std::vector<NamedKernels> list;
    std::copy_if(all.begin(), all.end(), std::back_inserter(list), [&](const NamedKernels& one) {
        const auto narrower = [&](const NamedKernels& other) {
            return !other.of_kind && other.held == one.held && other.classes.front() != one.classes.front() &&
                   is_within(other.classes.front(), one.classes.front());
        };
        return one.of_kind ? one.held.size() > 1
                           : !one.held.empty() && std::none_of(all.begin(), all.end(), narrower);
    });
    return list;
}

/// Kernel classes and kinds of collectives of which the variance is removed, and the speed raised.
void add_kernels(const NamedKernels& kernels, const Scenario& scenario, double factor,
                 std::vector<Effect>& effects)
{
    const auto index = [](KernelClass kernel) { return static_cast<std::size_t>(kernel); };
    Effect variance{EffectKind::variance, kernels.name, {}, 0.0, {}, {}};
    Effect speed{EffectKind::speed, kernels.name, {}, 0.0, {}, {}};
    for (const KernelClass kernel : kernels.classes) {
        variance.change.push_back(Without{{NoiseKind::residual, index(kernel), std::string(name(kernel))}});
        speed.change.push_back(Faster{kernel, factor});
        for (const KernelClassRow& row : kernel_class_rows) {
            if (is_within(row.kernel, kernel)) {
                const DistributionQuantile distribution(
                    residual_distribution(scenario.variability, row.kernel));
                variance.cv =
                    std::max(variance.cv, distribution.constant() ? 0.0 : distribution.moments().cv());
            }
        }
    }
    if (variance.cv > 0.0) {
        effects.push_back(std::move(variance));
    }
    effects.push_back(std::move(speed));
}

bool lengths_vary(const Scenario& scenario) { return scenario.phases.front().lengths != nullptr; }

/// Of the samples of the first phase.
double cv_of_lengths(const Scenario& scenario)
{
    const Phase& first = scenario.phases.front();
    return cv_of(*first.lengths, first.sequence);
}

/// All effects to look for, without their consequences.
std::vector<Effect> candidates(const Scenario& scenario, const Problem& problem, const ParallelPlan& plan,
                               const SensitivityOptions& options)
{
    const double factor = 1.0 + options.percent / 100.0;
    const Cluster& cluster = scenario.cluster;
    const auto chosen = [&](const std::string& name) {
        return options.only.empty() || std::count(options.only.begin(), options.only.end(), name) > 0;
    };
    std::vector<Effect> effects;
    const std::vector<NamedKernels> all = named_kernels(kernel_classes_of(problem, plan));
    for (const NamedKernels& kernels : options.only.empty() ? different(all) : all) {
        if (chosen(kernels.name)) {
            add_kernels(kernels, scenario, factor, effects);
        }
    }
    for (const NoiseSource& source : noise_sources(cluster.tiers)) {
        const DistributionQuantile distribution(distribution_of(source, scenario.variability));
        const bool known =
            cluster.nodes_known() && (source.kind == NoiseKind::gpu || source.kind == NoiseKind::node);
        if (source.kind == NoiseKind::lengths && lengths_vary(scenario) && chosen(source.name)) {
            effects.push_back(
                {EffectKind::variance, source.name, {Without{source}}, cv_of_lengths(scenario), {}, {}});
        }
        if (source.kind != NoiseKind::residual && !distribution.constant() && !known && chosen(source.name)) {
            effects.push_back(
                {EffectKind::variance, source.name, {Without{source}}, distribution.moments().cv(), {}, {}});
        }
    }
    for (const HardwareParameter& parameter : hardware_parameters_of(scenario)) {
        const double value = value_of(parameter, cluster);
        if (value > 0.0 && chosen(parameter.name)) {
            const double to = parameter.target == HardwareTarget::latency ? value / factor : value * factor;
            effects.push_back({EffectKind::hardware, parameter.name, {Turned{parameter, to}}, 0.0, {}, {}});
        }
    }
    return effects;
}

Differences all_figures(std::initializer_list<Term> terms)
{
    Differences result;
    for (std::size_t f = 0; f < figure_count; ++f) {
        result[f] = combined(terms, static_cast<Figure>(f));
    }
    return result;
}

double strength(const Effect& effect)
{
    return std::abs(effect.difference[static_cast<std::size_t>(Figure::p99)].value);
}

/// Classes of kernels that a change is of.
std::vector<KernelClass> kernels_of(const Effect& effect)
{
    std::vector<KernelClass> kernels;
    for (const PlanChange& change : effect.change) {
        const auto* removed = std::get_if<Without>(&change);
        const auto* faster = std::get_if<Faster>(&change);
        if (removed != nullptr && removed->source.kind == NoiseKind::residual) {
            kernels.push_back(static_cast<KernelClass>(removed->source.index));
        } else if (faster != nullptr) {
            kernels.push_back(faster->kernels);
        }
    }
    return kernels;
}

/// Whether both change some class of kernels, so that they are no pair.
bool overlap(const Effect& a, const Effect& b)
{
    const std::vector<KernelClass> of_b = kernels_of(b);
    for (const KernelClass one : kernels_of(a)) {
        if (std::any_of(of_b.begin(), of_b.end(), [one](KernelClass other) {
                return is_within(one, other) || is_within(other, one);
            })) {
            return true;
        }
    }
    return false;
}

/// Pairs among the strongest `count` of the effects that `belongs` chooses and that change no kernels of a
/// stronger one; those are sorted by kind only.
template <class Belongs>
void add_pairs(const std::vector<Effect>& effects, int count, Belongs&& belongs, std::vector<Pair>& pairs)
{
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < effects.size(); ++i) {
        if (belongs(effects[i]) && !effects[i].consequence.infeasible && strength(effects[i]) > 0.0) {
            chosen.push_back(i);
        }
    }
    std::stable_sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
        return strength(effects[a]) > strength(effects[b]);
    });
    std::vector<std::size_t> independent;
    for (const std::size_t i : chosen) {
        const auto joins = [&](std::size_t stronger) { return overlap(effects[stronger], effects[i]); };
        if (independent.size() < static_cast<std::size_t>(count) &&
            std::none_of(independent.begin(), independent.end(), joins)) {
            independent.push_back(i);
        }
    }
    for (std::size_t i = 0; i < independent.size(); ++i) {
        for (std::size_t j = i + 1; j < independent.size(); ++j) {
            pairs.push_back({independent[i], independent[j], {}, {}, {}});
        }
    }
}

/// What-ifs of hardware parameters that are not knobs, which have values of their own.
std::vector<ParameterStep> steps_without_values(const std::vector<Effect>& effects, const Scenario& scenario)
{
    std::vector<ParameterStep> steps;
    for (const Effect& effect : effects) {
        const auto is_chosen = [&effect](const StudyChoice& choice) { return choice.name == effect.name; };
        if (effect.kind == EffectKind::hardware &&
            std::none_of(scenario.choices.begin(), scenario.choices.end(), is_chosen)) {
            const auto& turned = std::get<Turned>(effect.change.front());
            steps.push_back({turned.parameter, turned.value, &effect.consequence});
        }
    }
    return steps;
}

}  // namespace

std::vector<std::string> sensitivity_names(const Scenario& scenario)
{
    std::vector<std::string> names;
    for (const NamedKernels& kernels : named_kernels({})) {
        names.push_back(kernels.name);
    }
    for (const NoiseSource& source : noise_sources(scenario.cluster.tiers)) {
        if (source.kind != NoiseKind::residual &&
            (source.kind != NoiseKind::lengths || lengths_vary(scenario))) {
            names.push_back(source.name);
        }
    }
    for (const HardwareParameter& parameter : hardware_parameters_of(scenario)) {
        names.push_back(parameter.name);
    }
    return names;
}

Sensitivity sensitivity(const Scenario& scenario, const Problem& problem, const ParallelPlan& plan,
                        const SensitivityOptions& options, const SamplerOptions& sampler, const Pause& pause)
{
    const DrawRange range{0, options.fleets, options.steps};
    Sensitivity result;
    result.effects = candidates(scenario, problem, plan, options);
    std::vector<WhatIf> what_ifs{{}};  // first the plan as it is
    for (const Effect& effect : result.effects) {
        what_ifs.push_back(effect.change);
    }
    std::vector<Consequence> found = consequences(problem, plan, what_ifs, range, sampler, pause);
    result.plan = std::move(found.front());
    for (std::size_t i = 0; i < result.effects.size(); ++i) {
        Effect& effect = result.effects[i];
        effect.consequence = std::move(found[i + 1]);
        if (!effect.consequence.infeasible) {
            effect.difference = all_figures({{1.0, &effect.consequence}, {-1.0, &result.plan}});
        }
    }
    std::stable_sort(result.effects.begin(), result.effects.end(), [](const Effect& a, const Effect& b) {
        return a.kind != b.kind ? a.kind < b.kind : strength(a) > strength(b);
    });

    add_pairs(
        result.effects, options.pairs, [](const Effect& e) { return e.kind == EffectKind::variance; },
        result.pairs);
    add_pairs(
        result.effects, options.pairs, [](const Effect& e) { return e.kind != EffectKind::variance; },
        result.pairs);
    std::vector<WhatIf> both;
    for (const Pair& pair : result.pairs) {
        WhatIf& changes = both.emplace_back(result.effects[pair.a].change);
        const WhatIf& others = result.effects[pair.b].change;
        changes.insert(changes.end(), others.begin(), others.end());
    }
    const std::vector<Consequence> joint = consequences(problem, plan, both, range, sampler, pause);
    for (std::size_t i = 0; i < joint.size(); ++i) {
        Pair& pair = result.pairs[i];
        pair.infeasible = joint[i].infeasible;
        if (!pair.infeasible) {
            const Consequence& a = result.effects[pair.a].consequence;
            const Consequence& b = result.effects[pair.b].consequence;
            pair.joint = all_figures({{1.0, &joint[i]}, {-1.0, &result.plan}});
            pair.interaction = all_figures({{1.0, &joint[i]}, {-1.0, &a}, {-1.0, &b}, {1.0, &result.plan}});
        }
    }
    result.worth =
        hardware_worth(scenario, problem, plan, result.plan,
                       {options.only, steps_without_values(result.effects, scenario), options.pairs}, range,
                       sampler, pause);
    return result;
}

ParameterUnit unit_of(HardwareTarget target)
{
    switch (target) {
        case HardwareTarget::latency: return {"us", 1e-6};
        case HardwareTarget::compute: return {"TFLOP/s", 1e12};
        case HardwareTarget::power: return {"W", 1.0};
        case HardwareTarget::memory: return {"GB", 1e9};
        case HardwareTarget::group: return {"GPU", 1.0};
        case HardwareTarget::oversubscription: return {"to 1", 1.0};
        default: return {"GB/s", 1e9};
    }
}

double per_unit(const Effect& effect, const Cluster& cluster)
{
    const auto& turned = std::get<Turned>(effect.change.front());
    const double units =
        (turned.value - value_of(turned.parameter, cluster)) / unit_of(turned.parameter.target).si;
    return effect.difference[static_cast<std::size_t>(Figure::p99)].value / units;
}

std::optional<double> per_dollar(const Effect& effect, const Cluster& cluster)
{
    const auto& turned = std::get<Turned>(effect.change.front());
    const double dollars =
        (turned.value - value_of(turned.parameter, cluster)) * turned.parameter.price_per_unit.si * (1_h).si;
    return dollars > 0.0
               ? std::optional(effect.difference[static_cast<std::size_t>(Figure::p99)].value / dollars)
               : std::nullopt;
}

}  // namespace prismopt
