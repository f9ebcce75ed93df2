#include "optimizer/commands/chosen_job.hpp"

#include "io/base/control_characters.hpp"
#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"
#include "io/results/hdf5_file.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "optimizer/commands/chosen_plan.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/program/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

namespace prismopt {

namespace po = boost::program_options;

namespace {

using Texts = std::vector<std::string>;

std::string option_text(const po::variables_map& values, const char* option)
{
    return values.count(option) > 0 ? values[option].as<std::string>() : "";
}

int option_count(const po::variables_map& values, const char* option)
{
    if (values.count(option) == 0) {
        return 0;
    }
    const int value = values[option].as<int>();
    if (value < 1) {
        throw InputError(fmt::format(
            "--{} {} is not positive; give a positive number or leave the option out", option, value));
    }
    return value;
}

JobFile file_of(const std::string& option, const std::string& path)
{
    if (!std::filesystem::is_regular_file(path)) {
        throw InputError(
            fmt::format("{}{} is not a file; give the script or configuration that starts the training",
                        option, escape_controls(path)));
    }
    return {path, read_text(path)};
}

/// NAME=VALUE; a name may be a substitution, "$(nproc)".
void add_value(const std::string& word, std::map<std::string, std::string>& values)
{
    const std::size_t begin = word.starts_with("$(") ? word.rfind(")=") : 0;
    const std::size_t equals = begin == std::string::npos ? begin : word.find('=', begin);
    if (equals == std::string::npos || equals == 0) {
        throw InputError(
            fmt::format("--set {} has no value; write for example --set NNODES=4", escape_controls(word)));
    }
    values[word.substr(0, equals)] = word.substr(equals + 1);
}

/// Whether a file is a scenario rather than the configuration of a trainer, which may be TOML as well.
bool is_scenario(const std::string& path)
{
    constexpr std::array sections{"[workload]",  "[[workloads]]", "[cluster]",
                                  "[[cluster]]", "[[phase]]",     "[space]"};
    if (std::filesystem::path(path).extension() != ".toml" || !std::filesystem::is_regular_file(path)) {
        return false;
    }
    const std::string text = "\n" + read_text(path);
    return std::any_of(sections.begin(), sections.end(), [&text](const char* section) {
        return text.find(std::string("\n") + section) != std::string::npos;
    });
}

/// Options that only the files of a job need.
void refuse_job_options(const po::variables_map& values, const std::string& path)
{
    constexpr std::array options{"gpus",    "accelerator", "instance",     "gpus-per-node",
                                 "network", "workload",    "model-config", "model-class",
                                 "field",   "set",         "command"};
    for (const char* option : options) {
        if (values.count(option) > 0) {
            throw InputError(
                fmt::format("--{} completes the files of a job, and {} is none; change the scenario instead",
                            option, escape_controls(path)));
        }
    }
}

}  // namespace

void add_job_options(po::options_description& options)
{
    options.add_options()("gpus", po::value<int>()->value_name("N"),
                          "number of GPUs, where the files do not say it")(
        "accelerator", po::value<std::string>()->value_name("NAME"),
        "accelerator of the cluster (prismopt init --list accelerators; default: as the job script names it, "
        "or h100-sxm)")("instance", po::value<std::string>()->value_name("NAME"),
                        "instance of a cloud instead of an accelerator (--list instances)")(
        "gpus-per-node", po::value<int>()->value_name("N"),
        "GPUs of a node (default: as the launcher starts them)")(
        "network", po::value<std::string>()->value_name("LINK"),
        "link between nodes (--list links; default: as the accelerator usually comes, or as the instance "
        "has)")("workload", po::value<std::string>()->value_name("NAME"),
                "network of the catalog, where the files only name it (--list workloads)")(
        "model-config", po::value<std::string>()->value_name("FILE"),
        "config.json of the network (default: the one that the files name)")(
        "set", po::value<Texts>()->value_name("NAME=VALUE")->composing(),
        "value of a variable or a setting, instead of that of the files: --set NNODES=4 --set "
        "vocab-size=32000 (repeat it for "
        "each)")("command", po::value<std::string>()->value_name("TEXT"),
                 "command line that starts the files: \"accelerate launch --config_file fsdp.yaml trl sft "
                 "--config sft.yaml\"");
    add_field_options(options);
}

std::string study_name(const std::string& path)
{
    const std::string stem = std::filesystem::path(path).stem().string();
    return stem.empty() ? "job" : stem;
}

ImportRequest job_request(const po::variables_map& values)
{
    ImportRequest request;
    const Texts files = values.count("FILE") > 0 ? values["FILE"].as<Texts>() : Texts{};
    for (const std::string& file : files) {
        request.files.push_back(file_of("", file));
    }
    request.command = option_text(values, "command");
    for (const std::string& word : values.count("set") > 0 ? values["set"].as<Texts>() : Texts{}) {
        add_value(word, request.set);
    }
    if (const std::string config = option_text(values, "model-config"); !config.empty()) {
        request.model_config = file_of("--model-config ", config);
    }
    request.field_names = field_names_of(values);
    request.workload = option_text(values, "workload");
    request.gpus = option_count(values, "gpus");
    request.node_gpus = option_count(values, "gpus-per-node");
    request.accelerator = option_text(values, "accelerator");
    request.instance = option_text(values, "instance");
    request.network = option_text(values, "network");
    request.name = study_name(files.empty() ? "" : files.front());
    return request;
}

ChosenJob chosen_job(const po::variables_map& values)
{
    const Texts files = values.count("FILE") > 0 ? values["FILE"].as<Texts>() : Texts{};
    const auto whole = std::find_if(files.begin(), files.end(), [](const std::string& file) {
        return is_hdf5(file) || is_scenario(file);
    });
    if (files.size() > 1 && whole != files.end()) {
        throw InputError(fmt::format("{} is a study of its own; give it alone, or the files of one job",
                                     escape_controls(*whole)));
    }
    if (files.size() == 1 && (is_hdf5(files.front()) || is_scenario(files.front()))) {
        refuse_job_options(values, files.front());
        return {chosen_plan(files.front(), values), std::nullopt};
    }
    if (values.count("point") > 0) {
        throw InputError("--point needs a results file; give the .h5 file of a search, or --design");
    }
    JobImport job = import_job(job_request(values), catalogs_of(values));
    for (const std::string& doubt : import_doubts(job)) {
        log_warning(doubt);
    }
    const std::string design = values["design"].as<std::string>();
    ChosenPlan chosen = plan_with(job.scenario, design.empty() ? job.design : design);
    return {std::move(chosen), std::move(job)};
}

}  // namespace prismopt
