#include "io/report/batch_rows.hpp"

#include "io/report/aligned.hpp"
#include "io/scenario/hardware_variants.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace prismopt {

namespace {

/// The batch of a hardware variant, from the label of the axis.
std::optional<int> batch_of(const Scenario& scenario, const Results& results, int variant)
{
    const auto values =
        hardware_values(scenario.hardware_parameters, results.axes.front().labels[static_cast<std::size_t>(variant)]);
    for (std::size_t k = 0; values && k < scenario.hardware_parameters.size(); ++k) {
        if (scenario.hardware_parameters[k].target == HardwareTarget::global_batch) {
            return static_cast<int>((*values)[k]);
        }
    }
    return std::nullopt;
}

std::vector<double> values_of(const EvaluatedPoint& point)
{
    std::vector<double> values;
    for (const Estimate& objective : point.objectives) {
        values.push_back(objective.value);
    }
    return values.empty() ? point.bounds : values;
}

}  // namespace

std::vector<BatchRow> batch_rows(const Scenario& scenario, const Results& results)
{
    if (!scenario.learning || scenario.learning->global_batch.empty()) {
        return {};
    }
    std::map<int, BatchRow> rows;
    for (const int batch : scenario.learning->global_batch) {
        const Phase phase = at_batch(*scenario.learning, batch);
        rows[batch] = {.global_batch = batch, .tokens = phase.tokens, .steps = phase.steps()};
    }
    std::set<std::uint64_t> front;
    for (const FrontPoint& point : results.front) {
        front.insert(point.index);
    }
    for (const EvaluatedPoint& point : results.evaluations) {
        const auto batch = batch_of(scenario, results, point.point.front());
        if (!batch || !rows.contains(*batch)) {
            continue;
        }
        BatchRow& row = rows[*batch];
        row.on_front = row.on_front || front.contains(point.index);
        std::vector<double> values = values_of(point);
        if (row.values.empty() || values.front() < row.values.front()) {
            row.drawn = !point.objectives.empty();
            row.values = std::move(values);
        }
    }
    std::vector<BatchRow> result;
    for (auto& [batch, row] : rows) {
        result.push_back(std::move(row));
    }
    return result;
}

std::string batches_text(const Scenario& scenario, const Results& results)
{
    const std::vector<BatchRow> rows = batch_rows(scenario, results);
    if (rows.empty()) {
        return "";
    }
    const Learning& learning = *scenario.learning;
    constexpr double two_sided_95 = 1.959964;
    const double factor = std::exp(two_sided_95 * learning.spread);
    std::string text =
        fmt::format("Global batch: tokens to the loss of {} tokens in batches of {}; critical batch {} tokens ({} to {}; {}{})\n",
                    short_count(learning.as_given.tokens), short_count(learning.reference_batch),
                    short_count(learning.critical_batch), short_count(learning.critical_batch / factor),
                    short_count(learning.critical_batch * factor), learning.source,
                    learning.extrapolated > 1.0 ? fmt::format("; extrapolated by x{:.3g}", learning.extrapolated) : "");
    std::vector<std::vector<std::string>> cells{{"batch", "tokens each", "tokens", "steps"}};
    for (const ObjectiveInfo& objective : results.objectives) {
        cells.front().push_back(objective.name);
    }
    cells.front().emplace_back("");
    for (const BatchRow& row : rows) {
        std::vector<std::string>& line = cells.emplace_back(std::vector<std::string>{
            fmt::format("{}", row.global_batch), short_count(static_cast<double>(row.global_batch) * learning.as_given.sequence),
            short_count(row.tokens), short_count(row.steps)});
        for (std::size_t k = 0; k < results.objectives.size(); ++k) {
            if (row.values.empty()) {
                line.emplace_back("-");
                continue;
            }
            const ReadingUnit unit = reading_unit(results.objectives[k].units, row.values[k]);
            line.push_back(fmt::format("{}{:.4g} {}", row.drawn ? "" : "> ", row.values[k] / unit.size, unit.name));
        }
        line.emplace_back(row.on_front ? "on the front" : "");
    }
    return text + aligned(cells, cells.front().size() - 1) +
           "Each batch with its best plan by the first objective; >: at least that, for a plan that a limit excluded before it "
           "was drawn.\n";
}

}  // namespace prismopt
