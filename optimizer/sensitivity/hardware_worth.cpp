#include "optimizer/sensitivity/hardware_worth.hpp"

#include "model/predictor.hpp"
#include "optimizer/sensitivity/effects.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace prismopt {

using namespace literals;

namespace {

constexpr double hour_s = (1_h).si;
constexpr double equal_values = 1e-9;  // relative

double training_of(const Figures& figures) { return figures[static_cast<std::size_t>(Figure::training_p99)]; }

/// GPUs that the plan holds, with its spares.
double held_gpus(const Problem& problem, const ParallelPlan& plan)
{
    Problem without_electricity = problem;
    without_electricity.power.electricity_price.si = 0.0;
    const auto bound = std::get<NoiseFree>(Predictor(without_electricity).bound(plan));
    return bound.cost_usd / (bound.training_s * problem.cluster.gpu_price.si);
}

/// GPU-hours of a what-if whose hardware has the price of the plan's cluster.
MachineUse use_of(const Consequence& consequence, const HardwareWorth& worth)
{
    constexpr double none = std::numeric_limits<double>::infinity();
    if (consequence.infeasible) {
        return {.gpu_hours = none, .low = none, .high = none};
    }
    const double gpus_per_hour = worth.held_gpus / hour_s;
    const Estimate seconds = combined({{1.0, &consequence}}, Figure::training_p99);
    const Figures& predicted = consequence.predicted;
    const double usd_per_s = predicted[static_cast<std::size_t>(Figure::cost)] / training_of(predicted);
    MachineUse use{.gpu_hours = gpus_per_hour * seconds.value,
                   .low = gpus_per_hour * std::max(0.0, seconds.low),
                   .high = gpus_per_hour * seconds.high,
                   .electricity = std::max(0.0, usd_per_s / gpus_per_hour - worth.price)};
    for (const Figures& figures : consequence.pseudo_values) {
        use.pseudo_values.push_back(gpus_per_hour * training_of(figures));
    }
    return use;
}

/// The parameter without its price: break-evens are of times alone.
HardwareParameter unpriced(HardwareParameter parameter)
{
    parameter.price_per_unit = {};
    return parameter;
}

/// Values of a knob and that of the cluster, in SI units, ascending; the position of the latter.
std::pair<std::vector<double>, std::size_t> values_of(const StudyChoice& varied, double base)
{
    std::vector<double> values;
    for (const ChoiceValue& value : varied.values) {
        const double si = std::get<HardwareLevel>(value).si;
        if (std::abs(si - base) > equal_values * std::abs(base)) {
            values.push_back(si);
        }
    }
    const auto above = std::upper_bound(values.begin(), values.end(), base);
    const auto place = static_cast<std::size_t>(above - values.begin());
    values.insert(above, base);
    return {values, place};
}

std::optional<double> price_of(const HardwareParameter& parameter)
{
    const double usd = parameter.price_per_unit.si * unit_of(parameter.target).si * hour_s;
    return usd != 0.0 ? std::optional(usd) : std::nullopt;
}

/// Curve of values, of which consequences [value] are known.
ParameterWorth worth_along(const HardwareParameter& parameter, const std::vector<double>& values,
                           std::size_t base, const std::vector<const Consequence*>& consequences,
                           const HardwareWorth& of)
{
    ParameterWorth result;
    result.parameter = parameter;
    std::vector<ParameterLevel> levels;
    for (std::size_t i = 0; i < values.size(); ++i) {
        result.uses.push_back(use_of(*consequences[i], of));
        levels.push_back({values[i] / unit_of(parameter.target).si, result.uses.back()});
        result.infeasible.push_back(consequences[i]->infeasible);
    }
    result.curve = break_even_curve(levels, base, of.price, price_of(parameter));
    return result;
}

/// The point that is worth most; if none is worth more than the base, the one that is worth least.
std::optional<std::size_t> strongest(const BreakEvenCurve& curve)
{
    std::optional<std::size_t> most;
    std::optional<std::size_t> least;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        const auto& worth = curve.points[i].worth;
        if (worth && worth->value > (most ? curve.points[*most].worth->value : 0.0)) {
            most = i;
        }
        if (worth && worth->value < (least ? curve.points[*least].worth->value : 0.0)) {
            least = i;
        }
    }
    return most ? most : least;
}

/// Knobs, at their strongest points, of which each is to be paired with each.
std::vector<WorthPair> pairs_among(const HardwareWorth& worth, int most)
{
    std::vector<std::pair<std::size_t, std::size_t>> chosen;  // parameter, point
    for (std::size_t p = 0; p < worth.parameters.size(); ++p) {
        const auto point =
            worth.parameters[p].has_values ? strongest(worth.parameters[p].curve) : std::nullopt;
        if (point) {
            chosen.emplace_back(p, *point);
        }
    }
    const auto size = [&](const auto& one) {
        return std::abs(worth.parameters[one.first].curve.points[one.second].worth->value);
    };
    std::stable_sort(chosen.begin(), chosen.end(),
                     [&](const auto& a, const auto& b) { return size(a) > size(b); });
    chosen.resize(std::min(chosen.size(), static_cast<std::size_t>(most)));
    std::vector<WorthPair> pairs;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        for (std::size_t j = i + 1; j < chosen.size(); ++j) {
            pairs.push_back({.a = chosen[i].first,
                             .b = chosen[j].first,
                             .point_a = chosen[i].second,
                             .point_b = chosen[j].second,
                             .infeasible = {},
                             .joint = {},
                             .interaction = {}});
        }
    }
    return pairs;
}

/// The plan, and the draws that all of its what-ifs share.
struct DrawnPlan {
    const Problem& problem;
    const ParallelPlan& plan;
    const Consequence& as_it_is;
    const DrawRange& range;
    const SamplerOptions& sampler;
    const Pause& pause;

    std::vector<Consequence> after(const std::vector<WhatIf>& what_ifs) const
    {
        return consequences(problem, plan, what_ifs, range, sampler, pause);
    }
};

/// A knob with its values; of all but the base, the consequence follows from a what-if.
struct AskedParameter {
    HardwareParameter parameter;
    std::vector<double> values;  // SI
    std::size_t base = 0;
};

std::vector<AskedParameter> asked_parameters(const Scenario& scenario, const Cluster& cluster,
                                             const std::vector<std::string>& only)
{
    std::vector<AskedParameter> asked_values;
    for (const StudyChoice& choice : scenario.choices) {
        const bool wanted = only.empty() || std::count(only.begin(), only.end(), choice.name) > 0;
        if (choice.hardware && wanted) {
            auto [values, base] = values_of(choice, value_of(*choice.hardware, cluster));
            asked_values.push_back({*choice.hardware, std::move(values), base});
        }
    }
    return asked_values;
}

/// Whether a variant with `changed` depends on the value of `held`, which may be that of the
/// base: a peak or an energy of one precision is not scaled with those of all, and a board limit
/// is not that of the changed rates.
bool holds(const HardwareParameter& held, const HardwareParameter& changed)
{
    if (held.target == HardwareTarget::power) {
        return row_of(changed.target).changes_work;
    }
    return held.target == changed.target && held.precision && !changed.precision;
}

/// Knobs set to values, with what others hold at that of the cluster, as in a variant of the study.
WhatIf variant_with(const std::vector<Turned>& set, const std::vector<StudyChoice>& choices,
                    const Cluster& cluster)
{
    const auto has = [&](const HardwareParameter& parameter) {
        return std::any_of(set.begin(), set.end(),
                           [&](const Turned& turned) { return turned.parameter.name == parameter.name; });
    };
    WhatIf variant(set.begin(), set.end());
    for (const StudyChoice& choice : choices) {
        if (choice.hardware && !has(*choice.hardware) &&
            std::any_of(set.begin(), set.end(),
                        [&](const Turned& turned) { return holds(*choice.hardware, turned.parameter); })) {
            variant.emplace_back(Turned{unpriced(*choice.hardware), value_of(*choice.hardware, cluster)});
        }
    }
    return variant;
}

void add_parameters(const Scenario& scenario, const std::vector<AskedParameter>& asked_values,
                    const DrawnPlan& drawn, HardwareWorth& worth)
{
    std::vector<WhatIf> what_ifs;
    for (const AskedParameter& asked : asked_values) {
        for (std::size_t i = 0; i < asked.values.size(); ++i) {
            if (i != asked.base) {
                what_ifs.push_back(variant_with({{unpriced(asked.parameter), asked.values[i]}},
                                                scenario.choices, drawn.problem.cluster));
            }
        }
    }
    const std::vector<Consequence> found = drawn.after(what_ifs);
    std::size_t next = 0;
    for (const AskedParameter& asked : asked_values) {
        std::vector<const Consequence*> of_values;
        for (std::size_t i = 0; i < asked.values.size(); ++i) {
            of_values.push_back(i == asked.base ? &drawn.as_it_is : &found[next++]);
        }
        worth.parameters.push_back(worth_along(asked.parameter, asked.values, asked.base, of_values, worth));
        worth.parameters.back().has_values = true;
    }
}

void add_steps(const std::vector<ParameterStep>& steps, const DrawnPlan& drawn, HardwareWorth& worth)
{
    for (const ParameterStep& step : steps) {
        std::vector<double> values{value_of(step.parameter, drawn.problem.cluster), step.value};
        std::vector<const Consequence*> of_values{&drawn.as_it_is, step.consequence};
        const bool down = step.value < values.front();
        if (down) {
            std::swap(values.front(), values.back());
            std::swap(of_values.front(), of_values.back());
        }
        worth.parameters.push_back(worth_along(step.parameter, values, down ? 1 : 0, of_values, worth));
    }
}

Turned turned_to(const ParameterWorth& worth, std::size_t point)
{
    return {unpriced(worth.parameter), worth.curve.points[point].value * unit_of(worth.parameter.target).si};
}

void evaluate_pairs(const Scenario& scenario, const DrawnPlan& drawn, HardwareWorth& worth)
{
    std::vector<WhatIf> both;
    for (const WorthPair& pair : worth.pairs) {
        both.push_back(variant_with({turned_to(worth.parameters[pair.a], pair.point_a),
                                     turned_to(worth.parameters[pair.b], pair.point_b)},
                                    scenario.choices, drawn.problem.cluster));
    }
    const std::vector<Consequence> joint = drawn.after(both);
    const MachineUse base = use_of(drawn.as_it_is, worth);
    for (std::size_t i = 0; i < joint.size(); ++i) {
        WorthPair& pair = worth.pairs[i];
        if (joint[i].infeasible) {
            pair.infeasible = joint[i].infeasible;
            continue;
        }
        const MachineUse together = use_of(joint[i], worth);
        const MachineUse& a = worth.parameters[pair.a].uses[pair.point_a];
        const MachineUse& b = worth.parameters[pair.b].uses[pair.point_b];
        pair.joint = break_even(base, together, worth.price);
        pair.interaction = break_even_interaction(base, a, b, together, worth.price);
    }
}

}  // namespace

HardwareWorth hardware_worth(const Scenario& scenario, const Problem& problem, const ParallelPlan& plan,
                             const Consequence& plan_as_it_is, const WorthSettings& settings,
                             const DrawRange& range, const SamplerOptions& sampler, const Pause& pause)
{
    HardwareWorth worth;
    worth.price = problem.cluster.gpu_price.si * hour_s;
    if (!(worth.price > 0.0)) {
        return worth;
    }
    worth.held_gpus = held_gpus(problem, plan);
    const DrawnPlan drawn{problem, plan, plan_as_it_is, range, sampler, pause};
    add_parameters(scenario, asked_parameters(scenario, problem.cluster, settings.only), drawn, worth);
    add_steps(settings.steps, drawn, worth);
    worth.pairs = pairs_among(worth, settings.most_paired);
    evaluate_pairs(scenario, drawn, worth);
    return worth;
}

}  // namespace prismopt
