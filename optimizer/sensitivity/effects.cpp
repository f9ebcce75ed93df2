#include "optimizer/sensitivity/effects.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace prismopt {

namespace {

constexpr double hour_s = 3600.0;

/// Knobs that move times; latency is turned down, the others up.
std::vector<Knob> knobs_of(const Scenario& scenario)
{
    std::vector<Knob> knobs;
    const Cluster& cluster = scenario.cluster;
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        for (const KnobTarget target : {KnobTarget::bandwidth, KnobTarget::latency, KnobTarget::aggregate}) {
            if (target != KnobTarget::aggregate || cluster.tiers[t].circuit()) {
                knobs.push_back({target, t, cluster.tiers[t].name + "." + std::string(name(target)), {}, false, {}});
            }
        }
    }
    for (const KnobTarget target : {KnobTarget::memory_bandwidth, KnobTarget::compute, KnobTarget::power}) {
        knobs.push_back({target, 0, std::string(name(target)), {}, false, {}});
    }
    for (Knob& knob : knobs) {
        const auto priced = std::find_if(scenario.knobs.begin(), scenario.knobs.end(),
                                         [&knob](const Knob& other) { return other.name == knob.name; });
        if (priced != scenario.knobs.end()) {
            knob.price_per_unit = priced->price_per_unit;
        }
    }
    return knobs;
}

/// All effects to look for, without their consequences.
std::vector<Effect> candidates(const Scenario& scenario, double percent)
{
    const double factor = 1.0 + percent / 100.0;
    const Cluster& cluster = scenario.cluster;
    std::vector<Effect> effects;
    for (const NoiseSource& source : noise_sources(cluster.tiers)) {
        const LawQuantile law(law_of(source, scenario.variability, cluster.tiers));
        const bool known = cluster.nodes_known() && (source.kind == NoiseKind::gpu || source.kind == NoiseKind::node);
        if (!law.constant() && !known) {
            effects.push_back({EffectKind::variance, source.name, Without{source}, law.moments().cv(), {}, {}});
        }
    }
    for (std::size_t k = 0; k < kernel_classes; ++k) {
        effects.push_back({EffectKind::speed, kernel_class_names[k], Faster{static_cast<KernelClass>(k), factor}, 0.0, {}, {}});
    }
    for (const Knob& knob : knobs_of(scenario)) {
        const double value = value_of(knob, cluster);
        if (value > 0.0) {
            const double to = knob.target == KnobTarget::latency ? value / factor : value * factor;
            effects.push_back({EffectKind::hardware, knob.name, Turned{knob, to}, 0.0, {}, {}});
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

double strength(const Effect& effect) { return std::abs(effect.difference[static_cast<std::size_t>(Figure::p99)].value); }

/// Pairs among the strongest `count` of the effects that `belongs` chooses; those are sorted by kind only.
template <class Belongs>
void add_pairs(const std::vector<Effect>& effects, int count, Belongs&& belongs, std::vector<Pair>& pairs)
{
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < effects.size(); ++i) {
        if (belongs(effects[i]) && !effects[i].consequence.infeasible && strength(effects[i]) > 0.0) {
            chosen.push_back(i);
        }
    }
    std::stable_sort(chosen.begin(), chosen.end(),
                     [&](std::size_t a, std::size_t b) { return strength(effects[a]) > strength(effects[b]); });
    chosen.resize(std::min(chosen.size(), static_cast<std::size_t>(count)));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        for (std::size_t j = i + 1; j < chosen.size(); ++j) {
            pairs.push_back({chosen[i], chosen[j], {}, {}, {}});
        }
    }
}

}  // namespace

std::vector<std::string> sensitivity_names(const Scenario& scenario)
{
    std::vector<std::string> names;
    for (const NoiseSource& source : noise_sources(scenario.cluster.tiers)) {
        names.push_back(source.name);
    }
    for (const Knob& knob : knobs_of(scenario)) {
        names.push_back(knob.name);
    }
    return names;
}

Sensitivity sensitivity(const Scenario& scenario, const Problem& problem, const ParallelPlan& plan,
                        const SensitivityOptions& options)
{
    Sensitivity result;
    for (Effect& effect : candidates(scenario, options.percent)) {
        if (options.only.empty() || std::count(options.only.begin(), options.only.end(), effect.name) > 0) {
            result.effects.push_back(std::move(effect));
        }
    }
    std::vector<WhatIf> what_ifs{{}};  // first the plan as it is
    for (const Effect& effect : result.effects) {
        what_ifs.push_back({effect.change});
    }
    std::vector<Consequence> found = consequences(problem, plan, what_ifs, options.range, options.sampler);
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
        result.effects, options.pairs, [](const Effect& e) { return e.kind == EffectKind::variance; }, result.pairs);
    add_pairs(
        result.effects, options.pairs, [](const Effect& e) { return e.kind != EffectKind::variance; }, result.pairs);
    std::vector<WhatIf> both;
    for (const Pair& pair : result.pairs) {
        both.push_back({result.effects[pair.a].change, result.effects[pair.b].change});
    }
    const std::vector<Consequence> joint = consequences(problem, plan, both, options.range, options.sampler);
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
    return result;
}

KnobUnit unit_of(KnobTarget target)
{
    switch (target) {
        case KnobTarget::latency: return {"us", 1e-6};
        case KnobTarget::compute: return {"TFLOP/s", 1e12};
        case KnobTarget::power: return {"W", 1.0};
        case KnobTarget::memory: return {"GB", 1e9};
        case KnobTarget::group: return {"GPU", 1.0};
        default: return {"GB/s", 1e9};
    }
}

double per_unit(const Effect& effect, const Cluster& cluster)
{
    const auto& turned = std::get<Turned>(effect.change);
    const double units = (turned.value - value_of(turned.knob, cluster)) / unit_of(turned.knob.target).si;
    return effect.difference[static_cast<std::size_t>(Figure::p99)].value / units;
}

std::optional<double> per_dollar(const Effect& effect, const Cluster& cluster)
{
    const auto& turned = std::get<Turned>(effect.change);
    const double dollars = (turned.value - value_of(turned.knob, cluster)) * turned.knob.price_per_unit.si * hour_s;
    return dollars > 0.0 ? std::optional(effect.difference[static_cast<std::size_t>(Figure::p99)].value / dollars) : std::nullopt;
}

}  // namespace prismopt
