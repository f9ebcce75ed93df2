#include "optimizer/python/results.hpp"

#include "io/report/csv_text.hpp"
#include "io/report/machine_report.hpp"
#include "io/results/results_schema.hpp"
#include "optimizer/api/exports.hpp"
#include "optimizer/api/pairs.hpp"
#include "optimizer/api/reports.hpp"
#include "optimizer/api/results.hpp"
#include "optimizer/api/shortlist.hpp"
#include "optimizer/python/arrays.hpp"
#include "optimizer/python/bindings.hpp"
#include "optimizer/python/without_lock.hpp"

#include <pybind11/stl.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace prismopt::python {

namespace {

using ResultsPointer = std::shared_ptr<StudyResults>;

ResultsPointer open(const std::string& path)
{
    return without_lock([&] {
        const std::lock_guard one_at_a_time(results_files());
        return std::make_shared<StudyResults>(StudyResults{path, open_results(path)});
    });
}

/// An axis of all evaluated plans: its values, and the position of each plan's among them.
py::tuple axis_column(const Results& results, std::size_t axis)
{
    std::vector<std::int32_t> positions;
    for (const EvaluatedPoint& point : results.evaluations) {
        positions.push_back(static_cast<std::int32_t>(point.point.at(axis)));
    }
    return py::make_tuple(results.axes[axis].name, results.axes[axis].labels, array_of(std::move(positions)));
}

/// A number of each evaluated plan.
template <class Number, class Of>
py::array_t<Number> column(const Results& results, Of&& of)
{
    std::vector<Number> numbers;
    for (const EvaluatedPoint& point : results.evaluations) {
        numbers.push_back(of(point));
    }
    return array_of(std::move(numbers));
}

/// Name of an objective's column, as in front.csv: axes may have the names of objectives.
std::string column_of(const ObjectiveInfo& objective, std::string_view limit)
{
    return csv_column(objective_column(objective.name), limit, objective.units);
}

/// All feasible plans that were found. Plans without draws have bounds alone.
py::dict evaluations(const StudyResults& study)
{
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const Results& results = study.of;
    py::list axes;
    for (std::size_t axis = 0; axis < results.axes.size(); ++axis) {
        axes.append(axis_column(results, axis));
    }
    py::dict numbers;
    numbers["point"] =
        column<std::uint64_t>(results, [](const EvaluatedPoint& point) { return point.index; });
    numbers["draws"] =
        column<std::uint64_t>(results, [](const EvaluatedPoint& point) { return point.draws; });
    for (std::size_t k = 0; k < results.objectives.size(); ++k) {
        const auto of_estimate = [&](double Estimate::*member) {
            return column<double>(results, [k, member, none](const EvaluatedPoint& point) {
                return point.objectives.empty() ? none : point.objectives[k].*member;
            });
        };
        const auto column_name = [&](std::string_view limit) {
            return py::str(column_of(results.objectives[k], limit));
        };
        numbers[column_name("")] = of_estimate(&Estimate::value);
        numbers[column_name("_low")] = of_estimate(&Estimate::low);
        numbers[column_name("_high")] = of_estimate(&Estimate::high);
        numbers[column_name("_bound")] =
            column<double>(results, [k](const EvaluatedPoint& point) { return point.bounds.at(k); });
    }
    py::dict table;
    table["axes"] = axes;
    table["numbers"] = numbers;
    return table;
}

/// An objective of the plans on the front as they were confirmed, [plan]: values and confidence limits.
py::tuple confirmed(const StudyResults& study, std::size_t objective)
{
    std::vector<double> values;
    std::vector<double> low;
    std::vector<double> high;
    for (const FrontPoint& point : study.of.front) {
        const Estimate& estimate = point.objectives.at(objective);
        values.push_back(estimate.value);
        low.push_back(estimate.low);
        high.push_back(estimate.high);
    }
    return py::make_tuple(array_of(std::move(values)), array_of(std::move(low)), array_of(std::move(high)));
}

/// Holds results_files(), in Python: with _core.FilesInUse(): ...
class FilesInUse {
public:
    void enter()
    {
        const py::gil_scoped_release released;
        held_ = std::unique_lock(results_files());
    }
    void exit(const py::args&) { held_.unlock(); }

private:
    std::unique_lock<std::mutex> held_;
};

Plan plan_of(const StudyResults& study, std::optional<std::int64_t> number)
{
    return without_lock([&] { return Plan{nullptr, plan_at(study.of, number)}; });
}

std::vector<ExportFile> exported(const StudyResults& study, const std::string& target,
                                 std::optional<std::int64_t> number, int phase, const std::string& stem)
{
    return without_lock([&] {
        StudyLaunches launches(study.of);
        const Launch launch = launches.feasible_launch(launches.number(number), phase, stem);
        return exported_files(export_target(target), launch);
    });
}

Texts shortlist(const StudyResults& study, const std::string& objective, std::size_t most, double cover)
{
    return without_lock([&] {
        ShortlistRequest request;
        request.objective = objective;
        request.most = most;
        request.cover = cover;
        const Shortlists all = PlanChoice(study.of, handle_signals_sometimes()).shortlists(request);
        return Texts{shortlist_json(all), shortlist_text(all) + verdict_text(all)};
    });
}

/// What measured plans teach, and the overlay for later studies.
std::pair<Texts, std::string> learn(const StudyResults& study, const std::string& measured, bool accept)
{
    return without_lock([&] {
        PlanChoice plans(study.of, measured, accept ? Implausible::accepted : Implausible::refused,
                         handle_signals_sometimes());
        const Shortlists all = plans.shortlists();
        const WhatWasLearned learned = plans.learned();
        const std::string text = measured_text(learned) + shortlist_text(all) + "\n" + verdict_text(all);
        return std::pair{Texts{shortlist_json(all, &learned), text}, plans.overlay(study.path)};
    });
}

Texts compare(const std::vector<ResultsPointer>& studies, bool common)
{
    return without_lock([&] {
        std::vector<NamedResults> named;
        for (const ResultsPointer& study : studies) {
            named.push_back({study->path, study->of, trained_job(study->of)});
        }
        share_objectives(named, common ? OtherObjectives::dropped : OtherObjectives::refused);
        const std::vector<ComparedPair> pairs = compared_pairs(named);
        return Texts{comparison_json(named, pairs), comparison_text(named, pairs)};
    });
}

std::string figure(const StudyResults& study, const std::string& name, const std::string& x,
                   const std::string& y, const std::string& colour)
{
    return without_lock([&] {
        return figures_svg(report_figures(study.of, {.figure = name, .x = x, .y = y, .colour = colour}));
    });
}

}  // namespace

std::mutex& results_files()
{
    static std::mutex mutex;
    return mutex;
}

void bind_results(py::module_& module)
{
    py::class_<StudyResults, ResultsPointer>(module, "Results")
        .def_readonly("path", &StudyResults::path)
        .def_property_readonly("provisional", [](const StudyResults& study) { return study.of.provisional; })
        .def_property_readonly("scenario_text",
                               [](const StudyResults& study) { return study.of.study.scenario_text; })
        .def_property_readonly("front_points",
                               [](const StudyResults& study) {
                                   std::vector<std::uint64_t> points;
                                   for (const FrontPoint& point : study.of.front) {
                                       points.push_back(point.index);
                                   }
                                   return points;
                               })
        .def_property_readonly("objectives",
                               [](const StudyResults& study) {
                                   py::list objectives;
                                   for (const ObjectiveInfo& objective : study.of.objectives) {
                                       objectives.append(py::make_tuple(objective.name, objective.units,
                                                                        column_of(objective, "")));
                                   }
                                   return objectives;
                               })
        .def("json",
             [](const StudyResults& study) {
                 return without_lock([&] { return report_json(study.of, study.path); });
             })
        .def("text",
             [](const StudyResults& study) {
                 return without_lock([&] { return text_with_placements(study.of); });
             })
        .def("front_csv",
             [](const StudyResults& study) {
                 return without_lock([&] { return front_csv(study.of, study.path); });
             })
        .def("machines_csv",
             [](const StudyResults& study) {
                 return has_machines(study.of) ? machines_csv(study.of, study.path) : std::string();
             })
        .def("html",
             [](const StudyResults& study) {
                 return without_lock([&] { return html_report(study.of, study.path); });
             })
        .def("figure", &figure)
        .def("evaluations", &evaluations)
        .def("confirmed", &confirmed)
        .def("plan", &plan_of)
        .def("export", &exported)
        .def("shortlist", &shortlist)
        .def("learn", &learn);
    py::class_<FilesInUse>(module, "FilesInUse")
        .def(py::init<>())
        .def("__enter__", &FilesInUse::enter)
        .def("__exit__", &FilesInUse::exit);
    module.def("open_results", &open);
    module.def("compare", &compare);
}

}  // namespace prismopt::python
