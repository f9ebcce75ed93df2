#include "io/words/infeasible_text.hpp"
#include "optimizer/python/bindings.hpp"

#include "io/base/input_error.hpp"
#include "io/plots/timeline_file.hpp"
#include "optimizer/api/explain.hpp"
#include "optimizer/api/exports.hpp"
#include "optimizer/api/improve.hpp"
#include "optimizer/api/prediction_text.hpp"
#include "optimizer/api/sensitivity.hpp"
#include "optimizer/python/arrays.hpp"
#include "optimizer/python/without_lock.hpp"
#include "optimizer/sensitivity/effects_text.hpp"
#include "optimizer/space/design_text.hpp"

#include <pybind11/stl.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prismopt::python {

namespace {

/// A prediction with its draws, [phase][draw].
struct DrawnPlan {
    PlanPrediction of;
    std::vector<std::vector<double>> draws;
};

DrawnPlan predict_plan(const Plan& plan, int draws, const std::string& orders, std::optional<int> most_held)
{
    return without_lock([&] {
        PlanPredictor predictor = plan.predictor({.file = orders, .most_held = most_held});
        PlanPrediction of =
            predictor.predict(rung_of(plan.chosen.scenario, draws), handle_signals_sometimes());
        return DrawnPlan{std::move(of), std::move(predictor).draws()};
    });
}

py::tuple draws_of(const py::object& self)
{
    const auto& plan = self.cast<const DrawnPlan&>();
    py::tuple phases(plan.draws.size());
    for (std::size_t phase = 0; phase < plan.draws.size(); ++phase) {
        phases[phase] = view_of(plan.draws[phase], self);
    }
    return phases;
}

/// `draw`: by number, of so many draws; nothing: mean times.
py::list timeline(const Plan& plan, std::optional<int> draw, int draws)
{
    const std::vector<TimelineEvent> events = without_lock([&] {
        const Rung rung = rung_of(plan.chosen.scenario, draws);
        if (draw && (*draw < 0 || *draw >= rung.fleets * rung.steps)) {
            throw InputError({}, "draw " + std::to_string(*draw) + " is out of range",
                             "give a number from 0 to " + std::to_string(rung.fleets * rung.steps - 1));
        }
        return plan.predictor().timeline(draw, rung);
    });
    py::list rows;
    for (const TimelineEvent& event : events) {
        rows.append(py::make_tuple(event.stage, stream_name(event.stream), activity_name(event.activity),
                                   event.chunk, event.microbatch, event.start_s, event.end_s));
    }
    return rows;
}

Texts explain_plan(const Plan& plan, bool changes)
{
    return without_lock([&] {
        const Explanation of = explain(plan.chosen, changes, handle_signals_sometimes());
        return Texts{explanation_json(of), explanation_text(of)};
    });
}

Texts explain_plans(const Plan& plan, const Plan& other)
{
    return without_lock([&] {
        const Versus of = explain_against(plan.chosen, other.chosen, handle_signals_sometimes());
        return Texts{versus_json(of), versus_text(of)};
    });
}

Texts sensitivity_of_plan(const Plan& plan, int draws, double faster, int pairs,
                          const std::vector<std::string>& only)
{
    return without_lock([&] {
        const SensitivityOptions options =
            with_draws({.percent = faster, .pairs = pairs, .only = only}, draws);
        const auto found = sensitivity_of(plan.chosen, options, handle_signals_sometimes());
        if (const auto* why = std::get_if<Infeasible>(&found)) {
            throw InfeasiblePlan(*why,
                                 "the plan is infeasible: " + infeasible_text(*why) + "; change the plan");
        }
        const SensitivityOf of{plan.chosen.scenario, plan.chosen.plan, options};
        const auto& effects = std::get<Sensitivity>(found);
        return Texts{sensitivity_json(effects, of).dump(), sensitivity_text(effects, of)};
    });
}

std::vector<ExportFile> exported_plan(const Plan& plan, const std::string& target, int phase,
                                      const std::string& stem)
{
    return without_lock([&] {
        return exported_files(export_target(target),
                              feasible_launch(plan.chosen, {.phase = phase, .stem = stem}));
    });
}

}  // namespace

void bind_plans(py::module_& module)
{
    py::class_<ExportFile>(module, "ExportFile")
        .def_readonly("name", &ExportFile::name)
        .def_readonly("text", &ExportFile::text);
    py::class_<DrawnPlan>(module, "DrawnPlan")
        .def("json", [](const DrawnPlan& plan) { return prediction_json(plan.of); })
        .def("text",
             [](const DrawnPlan& plan, bool stages) {
                 return prediction_text(plan.of, stages ? StageTable::on : StageTable::off);
             })
        .def_property_readonly("draws", &draws_of);
    py::class_<Plan>(module, "Plan")
        .def_property_readonly("design",
                               [](const Plan& plan) {
                                   return design_text(plan.chosen.plan, plan.chosen.scenario.space);
                               })
        .def_property_readonly("variant", [](const Plan& plan) { return plan.chosen.variant; })
        .def("predict", &predict_plan)
        .def("timeline", &timeline)
        .def("changed",
             [](const Plan& plan, const std::string& words) {
                 return without_lock([&] { return Plan{plan.of, changed_plan(plan.chosen, words)}; });
             })
        .def("explain", &explain_plan)
        .def("explain_against", &explain_plans)
        .def("sensitivity", &sensitivity_of_plan)
        .def("export", &exported_plan);
}

}  // namespace prismopt::python
