#pragma once

/// The command of a script that starts the training: its launcher, its program and its arguments.

#include "io/authoring/jobs/job_setting.hpp"
#include "io/authoring/shell/shell_script.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

struct LaunchCommand {
    InputPlace place;
    std::string launcher;  // "torchrun", "accelerate", "srun", ...; empty: none
    // "pretrain_gpt.py", "trl sft", "maxtext.trainers.pre_train.train"; empty: arguments only
    std::string program;
    JobSettingList launcher_settings;  // names with "_"
    JobSettingList settings;
    std::vector<std::string> files;  // arguments without a name: configurations
    std::vector<std::string> loose;  // variables without a value that stand where arguments may
    std::map<std::string, std::string> environment;
    std::optional<std::vector<std::string>> directives;  // of the job that runs it; nothing: its script's
};

/// The arguments of a file that has nothing else, as `xargs` reads it: "--name value ...", "--name=value";
/// lines that begin with # are comments.
LaunchCommand argument_file(const std::string& text, const std::string& path);

/// The commands of a script that start a program, with its most arguments first; of a script that
/// only defines arguments, those.
std::vector<LaunchCommand> launch_commands(const ShellScript& script, const std::string& path);

/// Machine as the launcher and Slurm know it. 0: unknown.
struct JobMachine {
    int nodes = 0;
    int node_gpus = 0;
    int gpus = 0;
    struct Hint {
        std::string word;  // as written: "h100"
        std::string from;  // "the partition"
    };
    std::vector<Hint> accelerators;  // what may name the accelerator, the surest first
    std::vector<std::string> notes;
    std::vector<std::string> missing;  // variables that the launcher's numbers need
};
/// Of the command and of "#SBATCH" lines; the launcher decides.
JobMachine job_machine(const LaunchCommand& command, const std::vector<std::string>& directives);

/// Variables that Slurm sets in a job with these directives.
std::map<std::string, std::string> slurm_environment(const std::vector<std::string>& directives);

}  // namespace prismopt
