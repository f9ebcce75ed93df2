#include "io/compare/pairs.hpp"

#include "io/base/aligned.hpp"
#include "io/base/json_number.hpp"
#include "io/base/percent.hpp"
#include "io/compare/comparison_json.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

using PairJson = nlohmann::ordered_json;

/// Half the width of the logarithm's interval that both sides have together, as independent normal errors.
/// Sides differ where software was not given.
double together(double one, double other) { return std::hypot(std::log(one), std::log(other)); }

std::string ratio_text(double ratio, double low, double high)
{
    return low == high ? fmt::format("{:.3f}", ratio)
                       : fmt::format("{:.3f} ({:.2f} to {:.2f})", ratio, low, high);
}

std::string differ_text(const ComparedPair& pair)
{
    if (pair.differ.empty()) {
        return pair.same_plan ? "nothing: the plan is the same" : "plans only";
    }
    return listed(pair.differ) + (pair.same_plan ? "; the plan is the same" : "");
}

PairJson plan_json(const PairedPlan& plan)
{
    return {{"name", plan.name},
            {"point", plan.point},
            {"plan", plan.plan},
            {"value", json_number<PairJson>(plan.value)},
            {"low", json_number<PairJson>(plan.low)},
            {"high", json_number<PairJson>(plan.high)}};
}

}  // namespace

double ComparedPair::independent_low() const
{
    return ratio * std::exp(-together(second.value / second.low, first.high / first.value));
}

double ComparedPair::independent_high() const
{
    return ratio * std::exp(together(second.high / second.value, first.value / first.low));
}

std::vector<std::vector<std::string>> pair_rows(const std::vector<ComparedPair>& pairs)
{
    if (pairs.empty()) {
        return {};
    }
    std::vector<std::vector<std::string>> rows{{"best in", "expected", "of", "against", "ratio (95 %)",
                                                "as if independent", "less in one run", "differ"}};
    for (const ComparedPair& pair : pairs) {
        const ReadingUnit unit = reading_unit(pair.units, std::max(pair.first.value, pair.second.value));
        const auto with_value = [&unit](const PairedPlan& plan) {
            return fmt::format("{}: {:.4g}{}{}", plan.name, plan.value / unit.size,
                               unit.name.empty() ? "" : " ", unit.name);
        };
        const double low = pair.independent_low();
        const double high = pair.independent_high();
        rows.push_back(
            {pair.best_in, pair.quantity, with_value(pair.second), with_value(pair.first),
             ratio_text(pair.ratio, pair.low, pair.high),
             std::isfinite(low) && std::isfinite(high) ? fmt::format("{:.2f} to {:.2f}", low, high) : "-",
             chance_text(pair.chance_less), differ_text(pair)});
    }
    return rows;
}

std::string pairs_text(const std::vector<ComparedPair>& pairs)
{
    if (pairs.empty()) {
        return "";
    }
    return fmt::format(
        "\nPairs: ratio of the expectations, with its 95 % interval by what the errors of both do not have "
        "in common; "
        "probability "
        "that one run of\nthe first named takes less than one of the other, with the noise of runs.\n{}",
        aligned(pair_rows(pairs), 0));
}

nlohmann::ordered_json pairs_json(const std::vector<ComparedPair>& pairs)
{
    PairJson all = PairJson::array();
    for (const ComparedPair& pair : pairs) {
        all.push_back({{"best_in", pair.best_in},
                       {"quantity", pair.quantity},
                       {"units", pair.units},
                       {"first", plan_json(pair.first)},
                       {"second", plan_json(pair.second)},
                       {"ratio", pair.ratio},
                       {"low", json_number<PairJson>(pair.low)},
                       {"high", json_number<PairJson>(pair.high)},
                       {"independent_low", json_number<PairJson>(pair.independent_low())},
                       {"independent_high", json_number<PairJson>(pair.independent_high())},
                       {"chance_less_in_one_run", pair.chance_less},
                       {"same_plan", pair.same_plan},
                       {"differ", pair.differ},
                       {"correlation", pair.correlation},
                       {"deviations",
                        {{"constants", pair.deviations.constants},
                         {"source", pair.deviations.source},
                         {"plans", pair.deviations.plans},
                         {"hardware", pair.deviations.hardware},
                         {"draws", pair.deviations.draws}}}});
    }
    return all;
}

}  // namespace prismopt
