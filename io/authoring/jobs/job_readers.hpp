#pragma once

/// What the importers of single formats share.

#include "io/authoring/jobs/imported_job.hpp"
#include "io/authoring/jobs/launch_command.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// The files of a job by what they are. Request and catalog belong to the caller of the import, and must
/// outlive this.
struct JobSources {
    const ImportRequest& request;
    const Catalog& catalog;
    std::optional<LaunchCommand> command;  // that starts the training
    std::vector<std::string> directives;   // of Slurm
    std::vector<JobFile> beside;           // files that here-documents write
};

/// "config.json" of "model/config.json".
std::string last_name(const std::string& path);

/// The text of a file that a job names: one of the request's, by its last name, or one beside them.
std::optional<JobFile> job_file(const JobSources& sources, const std::string& name);

/// GPUs of the job: those of the user, else of the launcher.
void read_machine(const JobSources& sources, JobMachine machine, ImportedJob& job, JobSettings& settings);

/// The network of the catalog by that name, or of its config.json. `named`: how the job calls it.
void use_catalog_network(const JobSources& sources, const std::string& named, ImportedJob& job);
void read_model(const JobSources& sources, const std::string& named, ImportedJob& job, JobSettings& settings);

/// The data-parallel degree that the other degrees leave. Throws InputError
/// where they do not divide the GPUs.
void derive_replicas(ImportedJob& job);
/// Checks that microbatches fill the batch.
void check_batch(const ImportedJob& job);

/// Sharding by a stage of ZeRO, from 0 to 3.
Sharding sharding_of_stage(int stage);

/// Where DeepSpeed keeps optimizer states and parameters: "cpu", "nvme"; otherwise on the GPUs.
struct OffloadDevices {
    std::string states;
    std::string parameters;
};
/// The nearest offload of a plan. What it does not state is recorded for the row of the parameters.
Offload nearest_offload(const OffloadDevices& devices, std::string_view row, JobSettings& settings);

/// Whether a JSON configuration of DeepSpeed is among the files.
bool has_deepspeed_json(const JobSettings& settings);
/// Reads it (io/trainers/deepspeed_settings.hpp) into sharding, overlap and offload. Returns the stage.
int read_deepspeed_json(JobSettings& settings, ParallelPlan& plan);
/// Sharding of a stage, and DeepSpeed's default of overlap_comm.
void assume_deepspeed_stage(JobSettings& settings, int stage, ParallelPlan& plan);

/// Throws InputError where both bf16 and fp16 are on, which all trainers refuse.
void refuse_two_types(JobSettings& settings);

// One function for each family of formats. `settings`: of all files and words, in the
// order in which later ones win.
ImportedJob megatron_job(const JobSources& sources, const TrainerSettings& table,
                         const JobSettingList& settings);
ImportedJob torchtitan_job(const JobSources& sources, const JobSettingList& settings);
ImportedJob transformers_job(const JobSources& sources, const TrainerSettings& table,
                             const JobSettingList& settings);
ImportedJob maxtext_job(const JobSources& sources, const JobSettingList& settings);
ImportedJob nanotron_job(const JobSources& sources, const JobSettingList& settings);
ImportedJob verl_job(const JobSources& sources, const JobSettingList& settings);

}  // namespace prismopt
