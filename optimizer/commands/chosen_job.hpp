#pragma once

/// The job that a command is about: a plan of a scenario or of results, or what the
/// files of a training job start.

#include "optimizer/api/imports.hpp"
#include "optimizer/api/plans.hpp"

#include <boost/program_options.hpp>

#include <optional>
#include <string>

namespace prismopt {

/// Adds what completes the files of a job: --gpus, --accelerator, --set and so on.
void add_job_options(boost::program_options::options_description& options);
/// The files given as "FILE" and the options above. Throws InputError.
ImportRequest job_request(const boost::program_options::variables_map& values);
/// The name of a study after a file.
std::string study_name(const std::string& path);

struct ChosenJob {
    ChosenPlan chosen;
    std::optional<JobImport> job;  // if the files of a job were given
};
/// Reads a scenario, results or the files of a job, given as "FILE"; with the options of add_plan_options()
/// and add_job_options(). Throws InputError.
ChosenJob chosen_job(const boost::program_options::variables_map& values);

}  // namespace prismopt
