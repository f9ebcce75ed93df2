#include "optimizer/sensitivity/effects_text.hpp"

#include "io/base/json_number.hpp"
#include "io/plots/tornado.hpp"
#include "io/report/report.hpp"
#include "io/results/results.hpp"
#include "io/toml/reading_units.hpp"
#include "io/words/infeasible_text.hpp"
#include "optimizer/sensitivity/worth_text.hpp"
#include "optimizer/space/design_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace prismopt {

namespace {

constexpr double ms = 1e-3;
constexpr double percent = 1e-2;

double value_of(const Consequence& plan, Figure figure)
{
    return plan.predicted[static_cast<std::size_t>(figure)];
}
const Estimate& at(const Differences& d, Figure figure) { return d[static_cast<std::size_t>(figure)]; }

std::string limits(const Estimate& e, double unit)
{
    return std::isfinite(e.low) && std::isfinite(e.high)
               ? fmt::format("({:+.3g} to {:+.3g})", e.low / unit, e.high / unit)
               : "(too few draws)";
}

std::string title(EffectKind kind, const SensitivityOptions& options)
{
    switch (kind) {
        case EffectKind::variance: return "Without the variance of";
        case EffectKind::speed: return fmt::format("Kernels {:g} % faster", options.percent);
        case EffectKind::hardware: return fmt::format("Hardware {:g} % better", options.percent);
    }
    return {};
}

/// Name with the kind of change, for tables that mix kinds: a kernel class may
/// lose its variance or be faster.
std::string labelled(const Effect& effect)
{
    switch (effect.kind) {
        case EffectKind::variance: return effect.name + ", no variance";
        case EffectKind::speed: return effect.name + ", faster";
        case EffectKind::hardware: return effect.name + ", better";
    }
    return effect.name;
}

/// Header of all tables except that of pairs.
std::string head(const std::string& of)
{
    return fmt::format("{:<26} {:>7} {:>9} {:>9} {:>9} {:<20} {:>7} {:>9} {:>7} {:>8} {:<18}", of, "cv %",
                       "p50 ms", "p95 ms", "p99 ms", "(95 %)", "p99 %", "p99/p50", "cv", "run p99%",
                       "(95 %)");
}

std::string row(const Effect& effect, const Consequence& plan)
{
    if (effect.consequence.infeasible) {
        return fmt::format("{:<26} infeasible: {}", effect.name,
                           infeasible_text(*effect.consequence.infeasible));
    }
    const Differences& d = effect.difference;
    const double run_percent = percent * value_of(plan, Figure::training_p99);
    return fmt::format(
        "{:<26} {:>7} {:>+9.3g} {:>+9.3g} {:>+9.3g} {:<20} {:>+7.2f} {:>+9.4f} {:>+7.3f} {:>+8.2f} {:<18}",
        effect.name, effect.kind == EffectKind::variance ? fmt::format("{:.3g}", effect.cv / percent) : "",
        at(d, Figure::p50).value / ms, at(d, Figure::p95).value / ms, at(d, Figure::p99).value / ms,
        limits(at(d, Figure::p99), ms), at(d, Figure::p99).value / value_of(plan, Figure::p99) / percent,
        at(d, Figure::spread).value, at(d, Figure::cv).value / percent,
        at(d, Figure::training_p99).value / run_percent, limits(at(d, Figure::training_p99), run_percent));
}

/// Value before and after the change, and the effect per unit and per dollar.
std::string turn(const Effect& effect, const Cluster& cluster)
{
    const auto& turned = std::get<Turned>(effect.change.front());
    const ParameterUnit unit = unit_of(turned.parameter.target);
    const double from = prismopt::value_of(turned.parameter, cluster);
    const double run_cost = at(effect.difference, Figure::cost).value;
    const auto dollar = per_dollar(effect, cluster);
    return fmt::format(
        "{:<26} {:>9.4g} {:>9.4g} {:<8} {:>+11.3g} {:<12} {}", effect.name, from / unit.si,
        turned.value / unit.si, unit.name, per_unit(effect, cluster) / ms, fmt::format("ms/({})", unit.name),
        dollar ? fmt::format("{:+.4g} ms of p99 per USD/h per GPU; p99 run cost {:+.4g} USD {}", *dollar / ms,
                             run_cost, limits(at(effect.difference, Figure::cost), 1.0))
               : "no price in [[knob]]");
}

std::string pair_row(const Pair& pair, const Sensitivity& found)
{
    const Effect& a = found.effects[pair.a];
    const Effect& b = found.effects[pair.b];
    const std::string names = fmt::format("{} & {}", labelled(a), labelled(b));
    if (pair.infeasible) {
        return fmt::format("{:<56} infeasible: {}", names, infeasible_text(*pair.infeasible));
    }
    return fmt::format("{:<56} {:>9.3g} {:>9.3g} {:>9.3g} {:>+12.3g} {}", names,
                       at(a.difference, Figure::p99).value / ms, at(b.difference, Figure::p99).value / ms,
                       at(pair.joint, Figure::p99).value / ms, at(pair.interaction, Figure::p99).value / ms,
                       limits(at(pair.interaction, Figure::p99), ms));
}

nlohmann::json to_json(const Differences& differences)
{
    nlohmann::json json;
    for (std::size_t f = 0; f < figure_count; ++f) {
        const Estimate& e = differences[f];
        json[figure_names[f]] = {
            {"change", e.value}, {"low", json_number(e.low)}, {"high", json_number(e.high)}};
    }
    return json;
}

nlohmann::json to_json(const Effect& effect, const Cluster& cluster)
{
    nlohmann::json json{{"kind", effect_kind_names[static_cast<std::size_t>(effect.kind)]},
                        {"name", effect.name}};
    if (effect.consequence.infeasible) {
        json["infeasible"] = infeasible_text(*effect.consequence.infeasible);
        return json;
    }
    json["change"] = to_json(effect.difference);
    if (effect.kind == EffectKind::variance) {
        json["cv"] = effect.cv;
    }
    if (effect.kind == EffectKind::hardware) {
        const auto& turned = std::get<Turned>(effect.change.front());
        const ParameterUnit unit = unit_of(turned.parameter.target);
        json["unit"] = unit.name;
        json["from"] = prismopt::value_of(turned.parameter, cluster) / unit.si;
        json["to"] = turned.value / unit.si;
        json["p99_s_per_unit"] = per_unit(effect, cluster);
        const auto dollar = per_dollar(effect, cluster);
        json["p99_s_per_usd_per_gpu_hour"] = dollar ? nlohmann::json(*dollar) : nlohmann::json(nullptr);
    }
    return json;
}

}  // namespace

std::string sensitivity_text(const Sensitivity& found, const SensitivityOf& of)
{
    const Consequence& plan = found.plan;
    std::string text = fmt::format(
        "{}\nstep p50 {:.4g} s, p95 {:.4g} s, p99 {:.4g} s, p99/p50 {:.4f}, cv {:.3g} %; p99 training {}; {} "
        "draws\n"
        "quantiles over {}; changes relative to this plan on the same draws, with 95 % confidence intervals "
        "(jackknife)\n",
        design_text(of.plan, of.scenario.space), value_of(plan, Figure::p50), value_of(plan, Figure::p95),
        value_of(plan, Figure::p99), value_of(plan, Figure::spread), value_of(plan, Figure::cv) / percent,
        time_text(value_of(plan, Figure::training_p99)), of.options.fleets * of.options.steps,
        population(of.scenario.cluster.nodes_known()));
    const Effect* last = nullptr;
    for (const Effect& effect : found.effects) {
        if (last == nullptr || effect.kind != last->kind) {
            text += fmt::format("\n{}\n", head(title(effect.kind, of.options)));
        }
        text += row(effect, plan) + "\n";
        last = &effect;
    }
    text += last != nullptr && last->kind == EffectKind::hardware
                ? fmt::format("\n{:<26} {:>9} {:>9}\n", "p99 per unit", "from", "to")
                : "";
    for (const Effect& effect : found.effects) {
        if (effect.kind == EffectKind::hardware && !effect.consequence.infeasible) {
            text += turn(effect, of.scenario.cluster) + "\n";
        }
    }
    if (!found.pairs.empty()) {
        text += fmt::format("\n{:<56} {:>9} {:>9} {:>9} {:>12}\n", "Pairs: p99 ms", "first", "second", "both",
                            "interaction");
    }
    for (const Pair& pair : found.pairs) {
        text += pair_row(pair, found) + "\n";
    }
    return text + worth_text(found.worth, of.scenario);
}

nlohmann::json sensitivity_json(const Sensitivity& found, const SensitivityOf& of)
{
    nlohmann::json json{{"format", "prismopt sensitivity"},
                        {"format_version", 1},
                        {"design", design_text(of.plan, of.scenario.space)},
                        {"draws", of.options.fleets * of.options.steps},
                        {"seed", of.scenario.seed},
                        {"faster_percent", of.options.percent},
                        {"quantiles_of", quantiles_of(of.scenario.cluster.nodes_known())},
                        {"scenario", of.scenario.text},
                        {"effects", nlohmann::json::array()},
                        {"pairs", nlohmann::json::array()}};
    for (std::size_t f = 0; f < figure_count; ++f) {
        json["plan"][figure_names[f]] = found.plan.predicted[f];
    }
    for (const Effect& effect : found.effects) {
        json["effects"].push_back(to_json(effect, of.scenario.cluster));
    }
    for (const Pair& pair : found.pairs) {
        const Effect& a = found.effects[pair.a];
        nlohmann::json row{{"kinds",
                            {effect_kind_names[static_cast<std::size_t>(a.kind)],
                             effect_kind_names[static_cast<std::size_t>(found.effects[pair.b].kind)]}},
                           {"names", {a.name, found.effects[pair.b].name}}};
        if (pair.infeasible) {
            row["infeasible"] = infeasible_text(*pair.infeasible);
        } else {
            row["joint"] = to_json(pair.joint);
            row["interaction"] = to_json(pair.interaction);
        }
        json["pairs"].push_back(row);
    }
    json["break_even"] = worth_json(found.worth, of.scenario);
    return json;
}

std::string sensitivity_svg(const Sensitivity& found, const SensitivityOf& of)
{
    std::vector<Tornado> panels;
    EffectKind last{};
    for (const Effect& effect : found.effects) {
        if (effect.consequence.infeasible) {
            continue;
        }
        if (panels.empty() || effect.kind != last) {
            panels.push_back({title(effect.kind, of.options), {}});
            last = effect.kind;
        }
        const Estimate& p99 = at(effect.difference, Figure::p99);
        const double unit = percent * value_of(found.plan, Figure::p99);
        panels.back().bars.push_back({labelled(effect), p99.value / unit, p99.low / unit, p99.high / unit});
    }
    return tornado_svg(panels, "change in p99 step time, % (95 % confidence interval)");
}

}  // namespace prismopt
