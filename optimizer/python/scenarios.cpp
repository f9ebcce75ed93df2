#include "optimizer/python/bindings.hpp"

#include "io/toml/catalog_file.hpp"
#include "optimizer/api/scenarios.hpp"
#include "optimizer/program/scenario_log.hpp"
#include "optimizer/python/without_lock.hpp"

#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

namespace prismopt::python {

namespace {

ScenarioPointer shared(Scenario of) { return std::make_shared<SharedScenario>(std::move(of)); }

ScenarioPointer read(const std::string& path, const std::vector<std::string>& catalogs)
{
    return without_lock([&] { return shared(read_scenario(path, catalogs)); });
}

ScenarioPointer parse_text(const std::string& text, const std::string& path)
{
    return without_lock([&] { return shared(parse_scenario(text, path)); });
}

ScenarioPointer start(const std::string& workload, int gpus, const std::string& accelerator,
                      const std::string& instance, const std::string& software, int sequence_length,
                      int global_batch, double tokens)
{
    StarterChoice choice;
    choice.workload = workload;
    choice.name = workload;
    choice.gpus = gpus;
    choice.accelerator = accelerator;
    choice.instance = instance;
    choice.software = software;
    choice.sequence = sequence_length;
    choice.global_batch = global_batch;
    choice.tokens = tokens;
    return without_lock([&] { return shared(started(choice)); });
}

/// `changes`: keys and values as a file has them.
ScenarioPointer with_changes(const SharedScenario& of,
                             const std::vector<std::pair<std::string, std::string>>& changes)
{
    std::vector<KeyValue> values;
    for (const auto& [key, value] : changes) {
        values.push_back({key, value});
    }
    return without_lock([&] { return shared(changed(of.scenario(), values)); });
}

ScenarioPointer on_these_nodes(const SharedScenario& of, const std::string& source)
{
    return without_lock([&] { return shared(on_nodes(of.scenario(), source)); });
}

py::list plans_in_space(const SharedScenario& of, std::size_t most)
{
    const auto plans =
        without_lock([&] { return feasible_plans(of.scenario(), most, handle_signals_sometimes()); });
    py::list designs;
    for (const PlanInSpace& plan : plans) {
        designs.append(py::make_tuple(plan.number, plan.design));
    }
    return designs;
}

/// The plan for a call that names none, and what to say of it; empty: it is the default plan.
std::pair<Plan, std::string> unnamed_plan(const ScenarioPointer& of)
{
    return without_lock([&] {
        const PlanPredictor usual = of->predictor().plan("");
        std::optional<ChosenPlan> other = stand_in(usual);
        if (!other) {
            return std::pair{Plan{of, usual.chosen()}, std::string()};
        }
        return std::pair{
            Plan{of, std::move(*other)},
            std::string(
                "the default plan of [space] is infeasible or may not fit, so this is the plan with the "
                "best noise-free first objective; name yours")};
    });
}

py::dict count(const SharedScenario& of)
{
    const PlanCount counted =
        without_lock([&] { return count_plans(of.scenario(), handle_signals_sometimes()); });
    py::dict rejected;
    for (const Rejected& row : counted.rejected) {
        rejected[py::str(row.reason)] = row.count;
    }
    py::dict result;
    result["combinations"] = counted.combinations;
    result["examined"] = counted.examined;
    result["feasible"] = counted.feasible;
    result["rejected"] = rejected;
    return result;
}

}  // namespace

void bind_scenarios(py::module_& module)
{
    py::class_<SharedScenario, ScenarioPointer>(module, "Scenario")
        .def_property_readonly("text", [](const SharedScenario& of) { return of.scenario().text; })
        .def_property_readonly("path", [](const SharedScenario& of) { return of.scenario().path; })
        .def_property_readonly("name", [](const SharedScenario& of) { return of.scenario().name; })
        .def("changed", &with_changes)
        .def("on_nodes", &on_these_nodes)
        .def("notes", [](const SharedScenario& of) { return notes_of(of.scenario()); })
        .def("feasible_plans", &plans_in_space)
        .def("count_plans", &count)
        .def("axis_names", [](const SharedScenario& of) { return axis_names(of.scenario()); })
        .def("plan",
             [](const ScenarioPointer& of, const std::string& words) {
                 return Plan{of, without_lock([&] { return plan_with(of->scenario(), words); })};
             })
        .def("unnamed_plan", &unnamed_plan);
    module.def("read_scenario", &read);
    module.def("parse_scenario", &parse_text);
    module.def("start_scenario", &start);
    module.def("catalog_text", &catalog_text);
    module.def("catalog_kinds", [] {
        const auto kinds = catalog_kinds();
        return std::vector<std::string>(kinds.begin(), kinds.end());
    });
}

}  // namespace prismopt::python
