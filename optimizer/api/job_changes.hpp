#pragma once

/// Plans written into the files of an imported job.

#include "io/trainers/trainer_settings.hpp"
#include "optimizer/api/imports.hpp"
#include "optimizer/api/plans.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// The files of a job with another plan. Importing `files` gives that plan, which was checked; where no such
/// files were found, they are empty and `settings` says what to change.
struct JobChange {
    std::vector<JobFile> files;
    std::string diff;  // of all files, as `patch -p0` reads it
    // "--tensor-model-parallel-size 1"; "tp=1" where the setting of the trainer is not known
    std::vector<std::string> settings;
    std::vector<std::string> refused;  // why the plan is not exported to the trainer of the job
    // what the plan needs of the environment, where no file states it: "CUDA_DEVICE_MAX_CONNECTIONS=32"
    std::vector<std::string> environment;
    // files with settings to change that the import found by itself: given as well, they can be changed
    std::vector<std::string> not_given;
};

/// `request`: by which `job` was imported. `today`: its plan and scenario.
JobChange changed_job(const ImportRequest& request, const JobImport& job, const ChosenPlan& today,
                      const ParallelPlan& plan, const std::vector<std::string>& catalogs = {});

/// The request with the files that those of the job name and the import found by itself, so that these are
/// changed as well: readable ones of at most 1 MiB in the folder of the first file, or below. The request as
/// it is where they would give another scenario, as a file does that has the name of one that the script
/// writes.
ImportRequest with_found_files(const ImportRequest& request, const JobImport& job,
                               const std::vector<std::string>& catalogs = {});

/// Whether an export writes the settings of this format of job files (ImportedJob::format).
bool is_written_back(std::string_view job_format);

/// The settings of the trainer whose job files have this format; nullptr: unknown.
const TrainerSettings* settings_of(std::string_view job_format);

}  // namespace prismopt
