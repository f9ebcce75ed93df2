#include "optimizer/sensitivity/worth_text.hpp"

#include "io/base/input_error.hpp"
#include "io/base/json_number.hpp"
#include "io/plots/paper_figure.hpp"
#include "io/report/csv_text.hpp"
#include "io/scenario/figure_origin.hpp"
#include "io/toml/reading_figure.hpp"
#include "io/toml/reading_units.hpp"
#include "io/words/infeasible_text.hpp"
#include "optimizer/sensitivity/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

constexpr double hour = 3600.0;    // s
constexpr double of_price = 1e-2;  // percent

bool has_limits(const Estimate& e) { return std::isfinite(e.low) && std::isfinite(e.high); }

std::string unit_name(const ParameterWorth& worth) { return unit_of(worth.parameter.target).name; }

/// "50 GB/s".
std::string value_words(const ParameterWorth& worth, const BreakEvenPoint& point)
{
    return fmt::format("{:.4g} {}", point.value, unit_name(worth));
}

/// Dollars per hour: "+0.31 (+0.28 to +0.34)".
std::string with_limits(const Estimate& e)
{
    const auto figure = [](double dollars) { return signed_figure(dollars, 1.0); };
    return has_limits(e) ? fmt::format("{} ({} to {})", figure(e.value), figure(e.low), figure(e.high))
                         : fmt::format("{} (too few draws)", figure(e.value));
}

const char* judgement(Pays pays)
{
    return pays == Pays::unpriced ? "" : pays_names[static_cast<std::size_t>(pays)];
}

std::string table_head(const HardwareWorth& worth, const Scenario& scenario)
{
    return fmt::format(
        "\nBreak-even: addition to the price of {:.4g} USD per GPU-hour{} at which the cost of this plan "
        "stays equal "
        "(p99 training time, {:g} GPUs{})\n{:<26} {:>13} {:>10}  {:<28} {:>7}  {:<32} {:>8}\n",
        worth.price, placeholder_words(price_origin(scenario), "price"), worth.held_gpus,
        scenario.power.electricity_price.si > 0.0 ? ", with their electricity" : "", "", "value", "time",
        "worth USD/h (95 %)", "% price", "per unit from the value above", "costs");
}

std::string reason_of(const std::optional<Infeasible>& why) { return why ? infeasible_text(*why) : ""; }

std::string table_row(const ParameterWorth& of, std::size_t at, const HardwareWorth& worth)
{
    const BreakEvenPoint& point = of.curve.points[at];
    const std::string name = at == 0 ? of.parameter.name : "";
    std::string line = fmt::format("{:<26} {:>13} ", name, value_words(of, point));
    if (!point.worth) {
        return line + fmt::format("infeasible: {}\n", reason_of(of.infeasible[at]));
    }
    line += fmt::format("{:>10}  ", time_text(hour * point.gpu_hours.value / worth.held_gpus));
    const std::string per_unit = point.per_unit ? with_limits(*point.per_unit) : "";
    if (point.value == of.curve.base_value) {
        line += fmt::format("{:<28} {:>7}  {:<33}", "this plan's hardware", "", per_unit);
    } else {
        line += fmt::format("{:<28} {:>+7.2f}  {:<33}", with_limits(*point.worth),
                            point.worth->value / worth.price / of_price, per_unit);
        line += of.curve.stated_per_unit ? fmt::format(" {:>+8.3g}  {}", point.stated, judgement(point.pays))
                                         : "";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

/// What the step from the best point to the next better hardware is worth; empty if there is none.
std::string next_step(const ParameterWorth& of)
{
    const BreakEvenCurve& curve = of.curve;
    const double per_unit = *curve.stated_per_unit;
    const std::size_t best = *curve.best;
    const std::size_t next = per_unit < 0.0 ? best - 1 : best + 1;  // wraps round below the first
    if (next >= curve.points.size() || !curve.points[next].worth) {
        return "";
    }
    // Per unit from the value below: that of the dearer end if more is better.
    const std::optional<Estimate>& step = curve.points[std::max(best, next)].per_unit;
    return step ? fmt::format("; from there to {}, one {} is worth {:.3g} and costs {:.3g}",
                              value_words(of, curve.points[next]), unit_name(of),
                              per_unit < 0.0 ? -step->value : step->value, std::abs(per_unit))
                : "";
}

/// "cluster.bandwidth: best at 50 GB/s, worth ..., costs ...".
std::string conclusion(const ParameterWorth& of)
{
    if (!of.curve.best) {
        return of.has_values
                   ? fmt::format("  {}: no price in [[knob]]; a value pays if it costs less than its worth\n",
                                 of.parameter.name)
                   : "";
    }
    const BreakEvenPoint& best = of.curve.points[*of.curve.best];
    if (best.value == of.curve.base_value) {
        return fmt::format("  {}: at its price, no value is better than {}{}\n", of.parameter.name,
                           value_words(of, best), next_step(of));
    }
    return fmt::format("  {}: best at {}, worth {} USD/h, costs {:+.3g}{}{}\n", of.parameter.name,
                       value_words(of, best), with_limits(*best.worth), best.stated,
                       best.pays == Pays::undecided ? " (undecided: the draws allow both)" : "",
                       next_step(of));
}

std::string pair_words(const WorthPair& pair, const HardwareWorth& worth)
{
    const auto of = [&](std::size_t parameter, std::size_t point) {
        const ParameterWorth& one = worth.parameters[parameter];
        return fmt::format("{} {}", one.parameter.name, value_words(one, one.curve.points[point]));
    };
    return fmt::format("{} & {}", of(pair.a, pair.point_a), of(pair.b, pair.point_b));
}

std::string pairs_text(const HardwareWorth& worth)
{
    if (worth.pairs.empty()) {
        return "";
    }
    std::string rows;
    std::size_t quiet = 0;
    for (const WorthPair& pair : worth.pairs) {
        if (pair.infeasible) {
            rows += fmt::format("{:<60} infeasible: {}\n", pair_words(pair, worth),
                                infeasible_text(*pair.infeasible));
        } else if (pair.interacts()) {
            rows += fmt::format("{:<60} {:<28} {}\n", pair_words(pair, worth), with_limits(pair.joint),
                                with_limits(pair.interaction));
        } else {
            ++quiet;
        }
    }
    std::string text = rows.empty()
                           ? "\n"
                           : fmt::format("\n{:<60} {:<28} {}\n{}", "Knobs that interact, USD/h (95 %)",
                                         "worth together", "beyond the sum of both", rows);
    return text + (quiet > 0 ? fmt::format("{} of knobs without an interaction beyond its interval\n",
                                           counted(quiet, "pair"))
                             : "");
}

nlohmann::json estimate_json(const Estimate& e)
{
    return {{"value", json_number(e.value)}, {"low", json_number(e.low)}, {"high", json_number(e.high)}};
}

nlohmann::json point_json(const ParameterWorth& of, std::size_t at)
{
    const BreakEvenPoint& point = of.curve.points[at];
    nlohmann::json json{{"value", point.value}};
    if (!point.worth) {
        json["infeasible"] = reason_of(of.infeasible[at]);
        return json;
    }
    json["gpu_hours"] = estimate_json(point.gpu_hours);
    json["worth"] = estimate_json(*point.worth);
    json["worth_per_unit"] = point.per_unit ? estimate_json(*point.per_unit) : nlohmann::json();
    json["price"] = of.curve.stated_per_unit ? nlohmann::json(point.stated) : nlohmann::json();
    json["pays"] = point.pays == Pays::unpriced ? nlohmann::json() : nlohmann::json(judgement(point.pays));
    return json;
}

FigurePoint plotted(const BreakEvenPoint& point)
{
    const Estimate& worth = *point.worth;
    return {.id = {},
            .x = point.value,
            .x_low = point.value,
            .x_high = point.value,
            .y = worth.value,
            .y_low = worth.low,
            .y_high = worth.high};
}

PaperFigure figure_of(const ParameterWorth& of)
{
    FigureSeries worth{"worth (95 %)", {}, SeriesStyle::line_with_marks};
    FigureSeries stated{"price", {}, SeriesStyle::dashed_line};
    for (const BreakEvenPoint& point : of.curve.points) {
        if (point.worth) {
            worth.points.push_back(plotted(point));
            stated.points.push_back(exact_point(point.value, point.stated));
        }
    }
    PaperFigure figure{.x = {.name = of.parameter.name, .unit = unit_name(of), .title = of.parameter.name},
                       .y = {.name = "break_even",
                             .unit = "USD/h",
                             .title = fmt::format("beyond {:.4g} USD per GPU-hour", of.curve.base_price)},
                       .legend = {},
                       .series = {worth},
                       .hollow = {}};
    if (of.curve.stated_per_unit) {
        figure.series.push_back(stated);
    }
    return figure;
}

}  // namespace

std::string worth_text(const HardwareWorth& worth, const Scenario& scenario)
{
    if (!(worth.price > 0.0)) {
        return "\nBreak-even: none without a price; give gpu_price in [cluster]\n";
    }
    if (worth.parameters.empty()) {
        return "";
    }
    std::string text = table_head(worth, scenario);
    for (const ParameterWorth& of : worth.parameters) {
        for (std::size_t at = 0; at < of.curve.points.size(); ++at) {
            text += table_row(of, at, worth);
        }
    }
    for (const ParameterWorth& of : worth.parameters) {
        text += conclusion(of);
    }
    return text + pairs_text(worth);
}

nlohmann::json worth_json(const HardwareWorth& worth, const Scenario& scenario)
{
    nlohmann::json json{{"gpu_price", worth.price},
                        {"gpu_price_origin", name(price_origin(scenario))},
                        {"held_gpus", worth.held_gpus},
                        {"time", "training_time_p99"},
                        {"units", "USD/h"},
                        {"parameters", nlohmann::json::array()},
                        {"pairs", nlohmann::json::array()}};
    for (const ParameterWorth& of : worth.parameters) {
        nlohmann::json one{{"name", of.parameter.name},
                           {"unit", unit_name(of)},
                           {"knob", of.has_values},
                           {"base", of.curve.base_value},
                           {"price_per_unit", of.curve.stated_per_unit
                                                  ? nlohmann::json(*of.curve.stated_per_unit)
                                                  : nlohmann::json()},
                           {"best", of.curve.best ? nlohmann::json(of.curve.points[*of.curve.best].value)
                                                  : nlohmann::json()},
                           {"points", nlohmann::json::array()}};
        for (std::size_t at = 0; at < of.curve.points.size(); ++at) {
            one["points"].push_back(point_json(of, at));
        }
        json["parameters"].push_back(one);
    }
    for (const WorthPair& pair : worth.pairs) {
        const ParameterWorth& a = worth.parameters[pair.a];
        const ParameterWorth& b = worth.parameters[pair.b];
        nlohmann::json one{{"names", {a.parameter.name, b.parameter.name}},
                           {"values",
                            {a.curve.points[pair.point_a].value, b.curve.points[pair.point_b].value}}};
        if (!pair.infeasible) {
            one["joint"] = estimate_json(pair.joint);
            one["interaction"] = estimate_json(pair.interaction);
            one["interacts"] = pair.interacts();
        } else {
            one["infeasible"] = infeasible_text(*pair.infeasible);
        }
        json["pairs"].push_back(one);
    }
    return json;
}

std::string worth_csv(const HardwareWorth& worth)
{
    std::string text = "parameter,unit,value";
    for (const auto& [column, units] :
         {std::pair{"gpu_hours", "h"}, std::pair{"worth", "USD/h"}, std::pair{"worth_per_unit", "USD/h"}}) {
        for (const char* limit : {"", "_low", "_high"}) {
            text += "," + csv_column(column, limit, units);
        }
    }
    text += "," + csv_column("price", "", "USD/h") + ",pays,infeasible\n";
    const auto numbers = [](const std::optional<Estimate>& e) {
        return e ? fmt::format("{},{},{}", csv_number(e->value), csv_number(e->low), csv_number(e->high))
                 : ",,";
    };
    for (const ParameterWorth& of : worth.parameters) {
        for (std::size_t at = 0; at < of.curve.points.size(); ++at) {
            const BreakEvenPoint& point = of.curve.points[at];
            const bool priced = point.worth && of.curve.stated_per_unit;
            text += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_field(of.parameter.name),
                                csv_field(unit_name(of)), csv_number(point.value),
                                numbers(point.worth ? std::optional(point.gpu_hours) : std::nullopt),
                                numbers(point.worth), numbers(point.per_unit),
                                priced ? csv_number(point.stated) : "", judgement(point.pays),
                                csv_field(reason_of(of.infeasible[at])));
        }
    }
    return text;
}

std::string worth_svg(const HardwareWorth& worth)
{
    std::vector<PaperFigure> figures;
    for (const ParameterWorth& of : worth.parameters) {
        if (of.has_values) {
            figures.push_back(figure_of(of));
        }
    }
    if (figures.empty()) {
        throw InputError(
            worth.price > 0.0
                ? "--figure break-even draws knobs; add a [[knob]] with its values to the scenario"
                : "--figure break-even needs a price; give gpu_price in [cluster]");
    }
    return figures_svg(figures);
}

}  // namespace prismopt
