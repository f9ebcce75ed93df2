#include "io/report/front/plans_by_choice.hpp"

#include "io/base/aligned.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/toml/reading_figure.hpp"
#include "io/toml/reading_units.hpp"
#include "model/objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace prismopt {

namespace {

std::string value_text(double value, const ObjectiveInfo& objective)
{
    if (!std::isfinite(value)) {
        return "-";
    }
    if (value == std::round(value) && objective.units != "s") {
        return fmt::format("{:.0f}", value);  // a number of GPUs
    }
    return reading_quantity(value, objective.units, 4);
}

/// Of a value that is proportional to the tokens: "74.8 days (66 to 77.7)".
std::string interval_text(double value, const TokensInterval& tokens, const ObjectiveInfo& objective)
{
    const ReadingUnit unit = reading_unit(objective.units, value);
    return fmt::format("{} {} ({} to {})", reading_figure(value / unit.size, 4), unit.name,
                       reading_figure(value * tokens.low / unit.size),
                       reading_figure(value * tokens.high / unit.size));
}

/// The value of the k-th objective.
std::string best_text(const BestPlan& best, std::size_t k, const ObjectiveInfo& objective,
                      const TokensInterval& tokens)
{
    if (best.values.empty()) {
        return "-";
    }
    const bool has_interval = tokens.low < tokens.high && follows_tokens(objective.name);
    return has_interval ? interval_text(best.values[k], tokens, objective)
                        : value_text(best.values[k], objective);
}

std::string front_text(const BestPlan& best)
{
    if (best.on_front) {
        return "on the front";
    }
    return best.some_on_front ? "another plan on the front" : "";
}

std::vector<double> values_of(const std::vector<Estimate>& objectives)
{
    std::vector<double> values(objectives.size());
    std::transform(objectives.begin(), objectives.end(), values.begin(),
                   [](const Estimate& of) { return of.value; });
    return values;
}

ChoiceTable table_of(const Results& results, const std::string& title,
                     const std::function<std::string(const Point&)>& choice)
{
    ChoiceTable table{title, {}, {}};
    const std::map<std::string, BestPlan> best =
        title.empty() ? std::map<std::string, BestPlan>{} : best_plans(results, choice);
    if (best.empty()) {
        return table;
    }
    add_best_head(results, table.cells.emplace_back(std::vector<std::string>{"choice"}));
    for (const auto& [chosen, plan] : best) {
        add_best(plan, results, table.cells.emplace_back(std::vector<std::string>{chosen}));
    }
    table.note = fmt::format("{}\n", best_plans_note);
    return table;
}

}  // namespace

std::map<std::string, BestPlan> best_plans(const Results& results,
                                           const std::function<std::string(const Point&)>& choice)
{
    std::map<std::string, BestPlan> best;
    std::map<std::string, double> least;  // of the search; the front was drawn again
    std::map<std::uint64_t, const FrontPoint*> front;
    for (const FrontPoint& point : results.front) {
        front[point.index] = &point;
    }
    for (const EvaluatedPoint& point : results.evaluations) {
        const std::string chosen = choice(point.point);
        if (chosen.empty()) {
            continue;
        }
        BestPlan& own = best[chosen];
        if (point.objectives.empty()) {
            own.bound = std::min(own.bound, point.bounds.front());
            continue;
        }
        const auto confirmed = front.find(point.index);
        const bool on_front = confirmed != front.end();
        own.some_on_front = own.some_on_front || on_front;
        const double value = point.objectives.front().value;
        if (own.values.empty() || value < least[chosen]) {
            least[chosen] = value;
            own.on_front = on_front;
            own.values = values_of(on_front ? confirmed->second->objectives : point.objectives);
        }
    }
    for (auto& [chosen, own] : best) {
        own.bound = std::min(own.bound, own.values.empty() ? own.bound : own.values.front());
    }
    return best;
}

void add_best_head(const Results& results, std::vector<std::string>& cells)
{
    for (const ObjectiveInfo& objective : results.objectives) {
        cells.push_back(objective.name);
    }
    if (!results.objectives.empty()) {
        cells.push_back(fmt::format("{} at least", results.objectives.front().name));
    }
    cells.emplace_back("");
}

void add_best(const BestPlan& best, const Results& results, std::vector<std::string>& cells,
              const TokensInterval& tokens)
{
    for (std::size_t k = 0; k < results.objectives.size(); ++k) {
        cells.push_back(best_text(best, k, results.objectives[k], tokens));
    }
    if (!results.objectives.empty()) {
        cells.push_back(value_text(best.bound, results.objectives.front()));
    }
    cells.push_back(front_text(best));
}

std::string choices_text(const ChoiceTable& table)
{
    if (table.cells.empty()) {
        return table.title.empty() ? "" : table.title + "\n";
    }
    return fmt::format("{}\n{}{}", table.title, aligned(table.cells, table.cells.front().size() - 1),
                       table.note);
}

ChoiceTable numerics_table(const Results& results, const std::string& title)
{
    std::vector<VariantChoice> choices = variant_choices(results);
    std::erase_if(choices, [](const VariantChoice& one) {
        return one.name != "precision" && one.name != "attention_kernel";
    });
    return table_of(results, title, [&choices](const Point& point) {
        std::string chosen;
        for (const VariantChoice& choice : choices) {
            chosen += fmt::format("{}{}={}", chosen.empty() ? "" : " ", choice.name, choice.at(point));
        }
        return chosen;
    });
}

ChoiceTable local_updates_table(const Results& results, const std::string& title)
{
    return table_of(results, title, [&results](const Point& point) {
        const auto steps = axis_label(results, point, "local_steps");
        return steps ? "local_steps=" + *steps : "";
    });
}

}  // namespace prismopt
