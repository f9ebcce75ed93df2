#include "io/report/plans_by_choice.hpp"

#include "io/toml/reading_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>

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
    const ReadingUnit unit = reading_unit(objective.units, value);
    return fmt::format("{:.4g} {}", value / unit.size, unit.name);
}

std::vector<double> values_of(const std::vector<Estimate>& objectives)
{
    std::vector<double> values;
    for (const Estimate& objective : objectives) {
        values.push_back(objective.value);
    }
    return values;
}

/// Of a hardware label: "precision=fp8 attention_kernel=flash".
std::string numerics_of(const std::string& hardware)
{
    std::string chosen;
    std::istringstream words(hardware);
    for (std::string word; words >> word;) {
        if (word.starts_with("precision=") || word.starts_with("attention_kernel=")) {
            chosen += (chosen.empty() ? "" : " ") + word;
        }
    }
    return chosen;
}

}  // namespace

std::map<std::string, BestPlan> best_plans(const Results& results,
                                           const std::function<std::string(const std::string& hardware)>& choice)
{
    std::map<std::string, BestPlan> best;
    if (results.axes.empty() || results.axes.front().name != "hardware") {
        return best;
    }
    std::map<std::string, double> least;  // of the search; the front was drawn again
    std::map<std::uint64_t, const FrontPoint*> front;
    for (const FrontPoint& point : results.front) {
        front[point.index] = &point;
    }
    for (const EvaluatedPoint& point : results.evaluations) {
        const std::string chosen = choice(results.axes.front().labels[static_cast<std::size_t>(point.point.front())]);
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

void add_best(const BestPlan& best, const Results& results, std::vector<std::string>& cells)
{
    for (std::size_t k = 0; k < results.objectives.size(); ++k) {
        cells.push_back(best.values.empty() ? "-" : value_text(best.values[k], results.objectives[k]));
    }
    if (!results.objectives.empty()) {
        cells.push_back(value_text(best.bound, results.objectives.front()));
    }
    cells.emplace_back(best.on_front ? "on the front" : best.some_on_front ? "another plan on the front" : "");
}

std::vector<std::vector<std::string>> numerics_cells(const Results& results)
{
    const std::map<std::string, BestPlan> best = best_plans(results, numerics_of);
    if (best.empty()) {
        return {};
    }
    std::vector<std::vector<std::string>> cells{{"choice"}};
    add_best_head(results, cells.back());
    for (const auto& [chosen, plan] : best) {
        cells.push_back({chosen});
        add_best(plan, results, cells.back());
    }
    return cells;
}

}  // namespace prismopt
