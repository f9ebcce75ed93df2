#include "optimizer/python/bindings.hpp"

#include "io/base/csv.hpp"
#include "optimizer/api/imports.hpp"
#include "optimizer/api/improve.hpp"
#include "optimizer/api/job_changes.hpp"
#include "optimizer/python/without_lock.hpp"

#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prismopt::python {

namespace {

/// A job as it was imported, and what it was imported from.
struct Job {
    ImportRequest request;
    std::vector<std::string> catalogs;
    JobImport import;
    ScenarioPointer scenario;
};
using JobPointer = std::shared_ptr<Job>;

JobPointer import_files(const ImportRequest& request, const std::vector<std::string>& catalogs)
{
    return without_lock([&] {
        JobImport import = import_job(request, catalogs);
        auto scenario = std::make_shared<SharedScenario>(import.scenario);
        return std::make_shared<Job>(Job{request, catalogs, std::move(import), std::move(scenario)});
    });
}

/// `job`: whose files are changed; null: none.
Texts improve_plan(const Plan& plan, const ImproveRequest& request, const JobPointer& job)
{
    return without_lock([&] {
        const Improvement found = improve(plan.chosen, request, handle_signals_sometimes());
        std::vector<JobChange> changes;
        if (job) {
            for (const ImprovedPlan& better : found.plans) {
                changes.push_back(
                    changed_job(job->request, job->import, plan.chosen, better.plan, job->catalogs));
            }
        }
        return Texts{improvement_json(found, changes),
                     improvement_text(found) + (job ? job_changes_text(found, changes) : std::string())};
    });
}

}  // namespace

void bind_jobs(py::module_& module)
{
    py::class_<JobFile>(module, "JobFile").def(py::init([](const std::string& path) {
        return without_lock([&] { return JobFile{path, read_text(path)}; });
    }));
    py::class_<ImportRequest>(module, "ImportRequest")
        .def(py::init<>())
        .def_readwrite("files", &ImportRequest::files)
        .def_readwrite("command", &ImportRequest::command)
        .def_readwrite("set", &ImportRequest::set)
        .def_readwrite("workload", &ImportRequest::workload)
        .def_readwrite("model_config", &ImportRequest::model_config)
        .def_readwrite("gpus", &ImportRequest::gpus)
        .def_readwrite("node_gpus", &ImportRequest::node_gpus)
        .def_readwrite("accelerator", &ImportRequest::accelerator)
        .def_readwrite("instance", &ImportRequest::instance)
        .def_readwrite("network", &ImportRequest::network)
        .def_readwrite("name", &ImportRequest::name);
    py::class_<ImproveRequest>(module, "ImproveRequest")
        .def(py::init<>())
        .def_readwrite("measured_step_s", &ImproveRequest::measured_step_s)
        .def_readwrite("measured_memory_bytes", &ImproveRequest::measured_memory_bytes)
        .def_readwrite("most_changes", &ImproveRequest::most_changes)
        .def_readwrite("most", &ImproveRequest::most);
    py::class_<Job, JobPointer>(module, "Job")
        .def_readonly("scenario", &Job::scenario)
        .def_property_readonly("design", [](const Job& job) { return job.import.design; })
        .def("doubts", [](const Job& job) { return import_doubts(job.import); })
        .def("json", [](const Job& job) { return import_json(job.import); })
        .def("text", [](const Job& job) { return import_text(job.import); });
    module.def("import_job", &import_files);
    module.def("improve", &improve_plan);
}

}  // namespace prismopt::python
