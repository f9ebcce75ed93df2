#include "io/base/control_characters.hpp"
#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"
#include "io/base/shell_word.hpp"
#include "optimizer/api/imports.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

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
        throw InputError(fmt::format("--{} {} is not positive; give a positive number or leave the option out", option, value));
    }
    return value;
}

JobFile file_of(const std::string& option, const std::string& path)
{
    if (!std::filesystem::is_regular_file(path)) {
        throw InputError(fmt::format("{}{} is not a file; give the script or configuration that starts the training", option,
                                     escape_controls(path)));
    }
    return {path, read_text(path)};
}

/// NAME=VALUE; a name may be a substitution, "$(nproc)".
void add_value(const std::string& word, std::map<std::string, std::string>& values)
{
    const std::size_t begin = word.starts_with("$(") ? word.rfind(")=") : 0;
    const std::size_t equals = begin == std::string::npos ? begin : word.find('=', begin);
    if (equals == std::string::npos || equals == 0) {
        throw InputError(fmt::format("--set {} has no value; write for example --set NNODES=4", escape_controls(word)));
    }
    values[word.substr(0, equals)] = word.substr(equals + 1);
}

/// The name of the study: that of the file that is written, or of the first file that is read.
std::string study_name(const std::string& out, const Texts& files)
{
    const std::string stem = std::filesystem::path(!out.empty() ? out : files.empty() ? "job" : files.front()).stem().string();
    return stem.empty() ? "job" : stem;
}

ImportRequest request_of(const po::variables_map& values)
{
    ImportRequest request;
    const Texts files = values.count("FILE") > 0 ? values["FILE"].as<Texts>() : Texts{};
    for (const std::string& file : files) {
        request.files.push_back(file_of("", file));
    }
    request.command = option_text(values, "command");
    if (files.empty() && request.command.empty()) {
        throw InputError("prismopt import needs the files that start the training; see prismopt import --help");
    }
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
    if (!request.accelerator.empty() && !request.instance.empty()) {
        throw InputError("--instance and --accelerator both name the accelerator; remove one of the two");
    }
    if (!request.workload.empty() && request.model_config) {
        throw InputError("--workload and --model-config both name the network; remove one of the two");
    }
    request.name = study_name(option_text(values, "out"), files);
    return request;
}

/// The comment above the scenario.
std::string heading(const ImportRequest& request, const JobImport& of, const std::string& out)
{
    Texts names;
    for (const JobFile& file : request.files) {
        names.push_back(escape_controls(std::filesystem::path(file.path).filename().string()));
    }
    return fmt::format("# Imported from {} ({}). The plan of the job:\n#\n#   prismopt predict {} --design \"{}\"\n#\n",
                       fmt::join(names, ", "), of.job.format, shell_word(out), of.design);
}

}  // namespace

int import_command(const Texts& words, const Call& call)
{
    po::options_description options("Options");
    options.add_options()("gpus", po::value<int>()->value_name("N"), "number of GPUs, where the files do not say it")(
        "accelerator", po::value<std::string>()->value_name("NAME"),
        "accelerator of the cluster (prismopt init --list accelerators; default: as the job script names it, or h100-sxm)")(
        "instance", po::value<std::string>()->value_name("NAME"),
        "instance of a cloud instead of an accelerator (--list instances)")(
        "gpus-per-node", po::value<int>()->value_name("N"), "GPUs of a node (default: as the launcher starts them)")(
        "workload", po::value<std::string>()->value_name("NAME"),
        "network of the catalog, where the files only name it (--list workloads)")(
        "model-config", po::value<std::string>()->value_name("FILE"),
        "config.json of the network (default: the one that the files name)")(
        "set", po::value<Texts>()->value_name("NAME=VALUE")->composing(),
        "value of a variable or a setting, instead of that of the files: --set NNODES=4 --set vocab-size=32000 (repeat it for "
        "each)")("command", po::value<std::string>()->value_name("TEXT"),
                 "command line that starts the files: \"accelerate launch --config_file fsdp.yaml trl sft --config sft.yaml\"")(
        "out", po::value<std::string>()->value_name("FILE"),
        "scenario to write; an existing file is not overwritten (default: the name of the first FILE with .toml)")(
        "all", po::bool_switch(), "also list each setting that changes neither time nor memory, with its line")(
        "json", po::bool_switch(), "print one JSON object instead, and write nothing");
    add_field_options(options);
    add_catalog_option(options);
    const auto values = parse_options("import", options, {"FILE", -1}, words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const ImportRequest request = request_of(*values);
    const JobImport of = import_job(request, catalogs_of(*values));
    if ((*values)["json"].as<bool>()) {
        fmt::print("{}", import_json(of));
        return exit_done;
    }
    const std::string given = option_text(*values, "out");
    const std::string out = given.empty() ? request.name + ".toml" : given;
    if (std::filesystem::exists(out)) {
        throw InputError(
            fmt::format("{} already exists and is not overwritten; name another file with --out FILE", escape_controls(out)));
    }
    write_output("out", out, heading(request, of, out) + of.text, {});
    fmt::print("{}\n{}: {} as a scenario\nnext: prismopt predict {} --design \"{}\"\n      prismopt search {}\n",
               import_text(of, (*values)["all"].as<bool>()), out, of.job.format, shell_word(out), of.design, shell_word(out));
    return exit_done;
}

}  // namespace prismopt
