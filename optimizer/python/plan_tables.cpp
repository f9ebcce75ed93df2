#include "io/words/infeasible_text.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/python/bindings.hpp"

#include "io/base/input_error.hpp"
#include "io/report/csv_text.hpp"
#include "io/report/deadline_risk.hpp"
#include "io/results/plan_results.hpp"
#include "optimizer/api/prediction_text.hpp"
#include "optimizer/python/arrays.hpp"
#include "optimizer/python/without_lock.hpp"

#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace prismopt::python {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Columns of numbers, a row per plan, and why plans are infeasible. Infeasible plans have no numbers.
class PlanTable {
public:
    explicit PlanTable(std::vector<std::string> columns) : names_(std::move(columns)), columns_(names_.size())
    {
    }

    void add_infeasible(const Infeasible& why)
    {
        reasons_.push_back(why.category());
        details_.push_back(detail_text(why));
        for (std::vector<double>& column : columns_) {
            column.push_back(not_a_number);
        }
    }

    /// `numbers`: [column].
    void add(const std::vector<double>& numbers)
    {
        reasons_.emplace_back();
        details_.emplace_back();
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            columns_[i].push_back(numbers.at(i));
        }
    }

    std::size_t rows() const { return reasons_.size(); }

    /// The columns by name, in order; needs the interpreter lock.
    py::dict release() &&
    {
        std::vector<std::uint8_t> feasible;
        for (const std::string& reason : reasons_) {
            feasible.push_back(reason.empty() ? 1 : 0);
        }
        py::dict table;
        table["feasible"] = array_of(std::move(feasible)).attr("view")("bool");
        table["reason"] = reasons_;
        table["detail"] = details_;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            table[py::str(names_[i])] = array_of(std::move(columns_[i]));
        }
        return table;
    }

private:
    std::vector<std::string> names_;
    std::vector<std::vector<double>> columns_;
    std::vector<std::string> reasons_;  // empty: the plan is feasible
    std::vector<std::string> details_;
};

/// Calls work(pause), and names the row where an input is wrong.
void fill(const PlanTable& table, const std::function<void(const Pause&)>& work)
{
    try {
        work(handle_signals_sometimes());
    } catch (const InputError& error) {
        throw InputError({}, "row " + std::to_string(table.rows()) + ": " + error.what(), "");
    }
}

using BoundsOrNot = std::variant<NoiseFree, Infeasible>;

void add_bounds(PlanTable& table, const BoundsOrNot& found)
{
    if (const auto* why = std::get_if<Infeasible>(&found)) {
        table.add_infeasible(*why);
        return;
    }
    const auto& least = std::get<NoiseFree>(found);
    table.add(
        {least.step_s, least.training_s, least.cost_usd, least.memory_bytes, least.gpus, least.energy_j});
}

py::dict lower_bounds_table(const SharedScenario& of, const std::vector<std::string>& plans)
{
    return without_lock([&] {
               PlanTable table({"step_s", "training_s", "cost_usd", "memory_bytes", "gpus", "energy_j"});
               fill(table, [&](const Pause& pause) {
                   of.predictor().lower_bounds(plans, [&](const BoundsOrNot& found) {
                       pause();
                       add_bounds(table, found);
                   });
               });
               return table;
           })
        .release();
}

std::vector<std::string> result_columns()
{
    constexpr std::array<std::string_view, 3> limits{"", "_low", "_high"};
    std::vector<std::string> columns;
    for (const auto& row : plan_results<Estimate>(&Outputs::predict)) {
        for (const std::string_view limit : limits) {
            columns.push_back(csv_column(row.name, limit, row.units));
        }
    }
    for (const auto& row : plan_results<double>(&Outputs::predict)) {
        columns.push_back(csv_column(row.name, "", row.units));
    }
    return columns;
}

/// [column of result_columns()].
std::vector<double> numbers_of(const PlanPrediction& of)
{
    const PlanResults results = results_of(of);
    std::vector<double> numbers;
    for (const auto& row : plan_results<Estimate>(&Outputs::predict)) {
        const Estimate estimate = stated(row.name, row.of(results));
        numbers.insert(numbers.end(), {estimate.value, estimate.low, estimate.high});
    }
    for (const auto& row : plan_results<double>(&Outputs::predict)) {
        numbers.push_back(row.of(results));
    }
    return numbers;
}

struct AskedPlan {
    const SharedScenario& of;
    const std::string& words;
    const Rung& rung;
};
/// Adds the prediction of one plan.
void add_prediction(PlanTable& table, const AskedPlan& asked, const Pause& pause)
{
    try {
        PlanPredictor plan = asked.of.predictor().plan(asked.words);
        if (plan.infeasible()) {
            table.add_infeasible(*plan.infeasible());
        } else {
            table.add(numbers_of(plan.predict(asked.rung, pause)));
        }
    } catch (const DegreesDoNotFit& error) {
        table.add_infeasible(error.as_infeasible());
    }
}

py::dict prediction_table(const SharedScenario& of, const std::vector<std::string>& plans, int draws)
{
    return without_lock([&] {
               PlanTable table(result_columns());
               const Rung rung = rung_of(of.scenario(), draws);
               fill(table, [&](const Pause& pause) {
                   for (const std::string& words : plans) {
                       pause();
                       add_prediction(table, {of, words, rung}, pause);
                   }
               });
               return table;
           })
        .release();
}

}  // namespace

void bind_plan_tables(py::module_& module)
{
    module.def("lower_bounds_table", &lower_bounds_table);
    module.def("prediction_table", &prediction_table);
}

}  // namespace prismopt::python
