#pragma once

/// The module `prismopt._core`, of which the package `prismopt` is made: the functions of
/// optimizer/api with values that Python has. Results cross as JSON, as the commands print it, and
/// numbers of many plans or draws as arrays.
///
/// - Functions that compute release the interpreter lock. What they use of Python,
///   they use before and after that.
/// - Objects may be used by several threads at a time, as they are constant.

#include "optimizer/api/plans.hpp"
#include "optimizer/api/predict.hpp"

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace prismopt::python {

namespace py = pybind11;

/// A scenario, with what the predictions of its plans share, which is made for the
/// first of them. It does not change.
class SharedScenario {
public:
    explicit SharedScenario(Scenario of) : scenario_(std::move(of)) {}

    const Scenario& scenario() const { return scenario_; }
    /// Call it without the interpreter lock: another thread may make the predictor at that time.
    const ScenarioPredictor& predictor() const
    {
        std::call_once(made_, [this] { predictor_.emplace(scenario_); });
        return *predictor_;
    }

private:
    Scenario scenario_;
    mutable std::once_flag made_;
    mutable std::optional<ScenarioPredictor> predictor_;
};
using ScenarioPointer = std::shared_ptr<SharedScenario>;

/// A plan of a scenario or, if that is null, of results.
struct Plan {
    ScenarioPointer of;
    ChosenPlan chosen;

    PlanPredictor predictor(const TaskOrder& order = {}) const
    {
        return of ? of->predictor().plan(chosen, order) : PlanPredictor(chosen, order);
    }
};

/// A result as one JSON object, and as text for people: what a command prints with --json and without it.
using Texts = std::pair<std::string, std::string>;

void bind_errors(py::module_& module);
void bind_scenarios(py::module_& module);
void bind_plans(py::module_& module);
void bind_plan_tables(py::module_& module);
void bind_searches(py::module_& module);
void bind_results(py::module_& module);
void bind_jobs(py::module_& module);

}  // namespace prismopt::python
