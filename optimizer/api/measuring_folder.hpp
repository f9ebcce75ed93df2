#pragma once

/// Plans to run for some steps: a folder with the files of each, how long to run them,
/// and the table that `learn` reads.

#include "optimizer/api/improve.hpp"
#include "optimizer/api/job_changes.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// A file of the folder.
struct FolderFile {
    std::string name;
    std::string text;
};

/// Today's plan and those of `improvement`: the job's files with each plan, README.md and
/// measured.csv. `changes`: of each plan. `searched`: scenario_of_plans(), whose results
/// `results_path` names from within the folder.
std::vector<FolderFile> measuring_folder(const Improvement& improvement, const ImportRequest& request,
                                         const std::vector<JobChange>& changes, const Scenario& searched,
                                         const std::string& results_path, double measured_step_s);

/// The scenario of a search of today's plan and those of `improvement`, and what lies between them: its
/// results are what `learn` needs. Throws InputError.
Scenario scenario_of_plans(const ChosenPlan& today, const Improvement& improvement);

}  // namespace prismopt
