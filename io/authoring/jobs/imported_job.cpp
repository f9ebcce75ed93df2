#include "io/authoring/jobs/imported_job.hpp"

#include "io/authoring/jobs/job_readers.hpp"
#include "io/authoring/jobs/python_settings.hpp"
#include "io/base/input_error.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string_view>

namespace prismopt {

namespace {

/// What a file is.
enum class FileKind { shell, arguments, document, toml, python, model };

bool ends_with_any(const std::string& path, std::initializer_list<std::string_view> endings)
{
    return std::any_of(endings.begin(), endings.end(),
                       [&path](std::string_view ending) { return path.ends_with(ending); });
}

/// The first line that is no comment.
std::string_view first_line(const std::string& text)
{
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = std::string_view(text).substr(at, end - at);
        line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
        if (!line.empty() && !line.starts_with('#')) {
            return line;
        }
        at = end + 1;
    }
    return {};
}

/// "model.seq_length=4096"
bool is_override(std::string_view line)
{
    const std::size_t equals = line.find('=');
    const std::size_t dot = line.find('.');
    return dot != std::string_view::npos && equals != std::string_view::npos && dot < equals &&
           line.substr(0, equals).find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+~") ==
               std::string_view::npos;
}

FileKind kind_of(const JobFile& file)
{
    const std::string_view line = first_line(file.text);
    if (ends_with_any(file.path, {".py"})) {
        return FileKind::python;
    }
    if (ends_with_any(file.path, {".json"}) || line.starts_with('{')) {
        const bool model =
            file.text.find("\"architectures\"") != std::string::npos || last_name(file.path) == "config.json";
        return model && file.text.find("\"zero_optimization\"") == std::string::npos ? FileKind::model
                                                                                     : FileKind::document;
    }
    if (ends_with_any(file.path, {".toml"}) ||
        (line.starts_with('[') && line.find(']') != std::string_view::npos && !file.text.starts_with("#!"))) {
        return FileKind::toml;
    }
    if (line.starts_with("--") || is_override(line)) {
        return FileKind::arguments;
    }
    const bool script =
        ends_with_any(file.path, {".sh", ".bash", ".sbatch", ".slurm"}) || file.text.starts_with("#!");
    return ends_with_any(file.path, {".yaml", ".yml"}) && !script ? FileKind::document : FileKind::shell;
}

/// All that the files state, before a format is chosen.
struct FoundFiles {
    JobSources sources;
    JobSettingList documents = {};                // of configurations
    JobSettingList words = {};                    // of the command
    std::vector<std::string> problems = {};       // what may be missing because a file is not there
    std::vector<std::string> not_started = {};    // the same for scripts that others start
    std::set<std::string> read = {};              // files that scripts source or start
    std::map<std::string, std::string> why = {};  // names without a value
};

bool states(const JobSettingList& settings, std::string_view name)
{
    return std::any_of(settings.begin(), settings.end(), [name](const JobSetting& s) {
        std::string own = s.name;
        std::replace(own.begin(), own.end(), '-', '_');
        return own == name;
    });
}
bool states_any(const JobSettingList& settings, std::initializer_list<std::string_view> names)
{
    return std::any_of(names.begin(), names.end(),
                       [&settings](std::string_view name) { return states(settings, name); });
}
bool has_section(const JobSettingList& settings, std::string_view section)
{
    return std::any_of(settings.begin(), settings.end(),
                       [section](const JobSetting& s) { return s.name.starts_with(section); });
}

std::optional<ShellFile> shell_file(const std::string& name, const void* from)
{
    auto file = job_file(*static_cast<const JobSources*>(from), name);
    return file ? std::optional(ShellFile{file->path, std::move(file->text)}) : std::nullopt;
}

/// Whether a command starts a server that generates tokens.
bool serves(const LaunchCommand& command)
{
    const std::string& program = command.program;
    return program == "vllm serve" || program.starts_with("vllm.entrypoints") ||
           program == "trl vllm-serve" || program.starts_with("sglang.launch_server");
}

/// How many settings of a command, files among them, some trainer reads.
int known_settings(const LaunchCommand& command)
{
    if (serves(command)) {
        return -1;  // beside it, another one is the training
    }
    const std::array tables{&slime_settings(),   &megatron_deepspeed_settings(),
                            &bridge_settings(),  &torchtitan_settings(),
                            &swift_settings(),   &llama_factory_settings(),
                            &maxtext_settings(), &verl_settings()};
    const auto known = [&tables](const JobSetting& setting) {
        return std::any_of(tables.begin(), tables.end(), [&setting](const TrainerSettings* table) {
            const KnownSetting own = known_setting(*table, setting.name);
            return own.row != nullptr && own.row->effect == SettingEffect::read;
        });
    };
    const auto settings = std::count_if(command.settings.begin(), command.settings.end(), known);
    return static_cast<int>(settings) + static_cast<int>(command.files.size());
}

std::string described(const LaunchCommand& command)
{
    return fmt::format("{} ({})", command.place.text(), printable(command.program));
}

/// Whether one of two commands starts the script of the other.
bool one_starts_other(const LaunchCommand& a, const LaunchCommand& b)
{
    return a.program == last_name(b.place.file) || b.program == last_name(a.place.file);
}

ShellScript shell_script(const JobFile& file, const JobSources& sources)
{
    const ShellInputs inputs{sources.request.set, slurm_environment(sbatch_directives(file.text)), shell_file,
                             &sources, slurm_environment};
    return read_shell_script(file.text, file.path, inputs);
}

/// The "#SBATCH" lines of a script; where it has none, those of a script that it starts.
std::vector<std::string> directives_of(const ShellScript& script, const ImportRequest& request)
{
    std::vector<std::string> directives = script.directives;
    for (const JobFile& file : request.files) {
        const bool started =
            std::find(script.read.begin(), script.read.end(), file.path) != script.read.end();
        if (directives.empty() && started) {
            directives = sbatch_directives(file.text);
        }
    }
    return directives;
}

/// Adds the command and the definitions of a script.
void use_script(const JobFile& file, const ShellScript& script, FoundFiles& job)
{
    std::vector<std::string> directives = directives_of(script, job.sources.request);
    std::vector<LaunchCommand> commands = launch_commands(script, file.path);
    for (const auto& [name, text] : script.files) {
        job.sources.beside.push_back({name, text});
    }
    job.why.insert(script.why.begin(), script.why.end());
    job.read.insert(script.read.begin(), script.read.end());
    for (const std::string& name : script.not_sourced) {
        job.problems.push_back(fmt::format("{} sources {}, which is not there: give it as one more FILE",
                                           file.path, printable(name)));
    }
    for (const std::string& name : script.not_started) {
        job.not_started.push_back(fmt::format("{} starts {}, which is not there: give it as one more FILE",
                                              file.path, printable(name)));
    }
    if (commands.empty()) {
        if (!directives.empty()) {
            job.sources.directives = directives;
        }
        return;
    }
    std::stable_sort(commands.begin(), commands.end(), [](const LaunchCommand& a, const LaunchCommand& b) {
        return known_settings(a) > known_settings(b);
    });
    LaunchCommand& command = commands.front();
    directives = command.directives.value_or(directives);
    constexpr int some = 2;
    if (commands.size() > 1 && known_settings(commands[1]) > some) {
        job.problems.push_back(fmt::format("{} starts several programs; the one in {} is read", file.path,
                                           command.place.text()));
    }
    for (const char* name : {"NNODES", "NPROC_PER_NODE", "NGPU", "CONFIG_FILE", "MODULE", "CONFIG",
                             "NCCL_IB_DISABLE", "FI_PROVIDER"}) {
        const auto variable = script.variables.find(name);
        if (variable != script.variables.end() && variable->second.size() == 1 &&
            variable->second.front().known()) {
            command.environment.emplace(name, variable->second.front().text);
        }
    }
    const std::optional<LaunchCommand>& known = job.sources.command;
    const bool launches = !command.program.empty();
    const bool better =
        !known || known->program.empty() || (launches && known_settings(command) > known_settings(*known));
    const bool two_jobs = launches && known && !known->program.empty() && !one_starts_other(command, *known);
    if (two_jobs) {
        job.problems.push_back(
            fmt::format("{} is read; {} starts another job, which is not: import one job at a time",
                        described(better ? command : *known), described(better ? *known : command)));
    }
    const bool of_job = !two_jobs && !directives.empty();
    if (of_job || (two_jobs && better)) {
        job.sources.directives = directives;
    }
    if (better) {
        job.sources.command = std::move(command);
    }
}

/// What a configuration configures: as another file or the command says that names it, else by its content.
enum class DocumentRole { by_content, deepspeed, fsdp };
struct NamedFile {
    std::string path;
    DocumentRole role;
    InputPlace named_in;
    std::vector<std::string> missing = {};  // of the path: variables without a value
};

/// Settings that name a file. transformers/training_args.py: deepspeed, fsdp_config; accelerate:
/// deepspeed_config_file; Megatron-DeepSpeed: deepspeed_config.
struct NamingSetting {
    std::string_view name;
    DocumentRole role;
};
constexpr std::array<NamingSetting, 9> naming_settings{
    {{"deepspeed", DocumentRole::deepspeed},
     {"deepspeed_config", DocumentRole::deepspeed},
     {"deepspeed_config_file", DocumentRole::deepspeed},
     {"deepspeed_config.deepspeed_config_file", DocumentRole::deepspeed},
     {"fsdp_config", DocumentRole::fsdp},
     {"config", DocumentRole::by_content},
     {"config_file", DocumentRole::by_content},
     {"job.config_file", DocumentRole::by_content},
     {"yaml_cfg", DocumentRole::by_content}}};

/// Adds the files that the settings name, each once.
void add_named_files(const JobSettingList& settings, std::vector<NamedFile>& files)
{
    for (const JobSetting& setting : settings) {
        std::string own = setting.name;
        std::replace(own.begin(), own.end(), '-', '_');
        const auto* const naming =
            std::find_if(naming_settings.begin(), naming_settings.end(),
                         [&own](const NamingSetting& known) { return known.name == own; });
        if (naming == naming_settings.end() || setting.values.size() != 1) {
            continue;
        }
        const std::string& path = setting.values.front();
        const bool known = std::any_of(files.begin(), files.end(),
                                       [&path](const NamedFile& file) { return file.path == path; });
        if (!known) {
            files.push_back({path, naming->role, setting.place, setting.missing});
        }
    }
}

std::vector<NamedFile> files_of(const LaunchCommand& command)
{
    std::vector<NamedFile> files;
    for (const std::string& path : command.files) {
        files.push_back({path, DocumentRole::by_content, command.place});
    }
    add_named_files(command.settings, files);
    add_named_files(command.launcher_settings, files);
    const auto environment = command.environment.find("CONFIG_FILE");
    if (environment != command.environment.end()) {
        files.push_back({environment->second, DocumentRole::by_content, command.place});
    }
    return files;
}

/// The role that others give a file.
DocumentRole role_of(const std::string& path, const std::vector<NamedFile>& named)
{
    const auto found = std::find_if(named.begin(), named.end(), [&path](const NamedFile& file) {
        return file.role != DocumentRole::by_content && last_name(file.path) == last_name(path);
    });
    return found == named.end() ? DocumentRole::by_content : found->role;
}

/// What the names of a configuration begin with, so that they show what it configures.
std::string_view prefix_of(const JobSettingList& settings, DocumentRole role)
{
    if (role == DocumentRole::fsdp) {
        return "fsdp_config.";
    }
    const bool json = states_any(settings, {"train_micro_batch_size_per_gpu", "train_batch_size"}) ||
                      has_section(settings, "zero_optimization");
    if (role == DocumentRole::deepspeed || json) {
        return "deepspeed_json.";
    }
    const bool accelerate = states_any(settings, {"distributed_type", "compute_environment", "num_machines"});
    return accelerate ? "accelerate." : "";
}

JobSettingList with_prefix(JobSettingList settings, std::string_view prefix)
{
    for (JobSetting& setting : settings) {
        setting.name.insert(0, prefix);
    }
    return settings;
}

void append(JobSettingList& to, JobSettingList from)
{
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// Adds the settings of a YAML or JSON file, and the files that it names.
void read_document(const JobFile& file, DocumentRole role, std::vector<NamedFile>& named, FoundFiles& job)
{
    const JobSettingList settings = document_settings(file.text, file.path);
    add_named_files(settings, named);
    append(job.documents, with_prefix(settings, prefix_of(settings, role)));
}

/// Throws where a configuration is not there whose settings no default can stand for. Other readers speak of
/// those of DeepSpeed and FSDP, whose names may say what they state.
void refuse_absent(const NamedFile& file)
{
    // MaxText/configs/base.yml has MaxText's defaults, which are known without it.
    const bool of_defaults = last_name(file.path) == "base.yml";
    if (file.role != DocumentRole::by_content || of_defaults) {
        return;
    }
    if (!file.missing.empty()) {
        throw InputError(file.named_in,
                         fmt::format("the name of a configuration needs {}: no value is known",
                                     listed(file.missing)),
                         fmt::format("add --set '{}=VALUE'",
                                     file.missing.front().substr(0, file.missing.front().find(' '))));
    }
    throw InputError(file.named_in, fmt::format("the configuration {} is not there", printable(file.path)),
                     "give it as one more FILE");
}

/// Adds the files that others name and that the user did not give; they may name further ones.
void read_named_files(std::vector<NamedFile> named, FoundFiles& job)
{
    for (std::size_t i = 0; i < named.size(); ++i) {
        const NamedFile next = named[i];
        const bool configuration = next.role != DocumentRole::by_content ||
                                   ends_with_any(next.path, {".json", ".yaml", ".yml", ".toml"});
        const bool given = std::any_of(job.sources.request.files.begin(), job.sources.request.files.end(),
                                       [&next](const JobFile& file) {
                                           return last_name(file.path) == last_name(next.path);
                                       });
        if (!configuration || given) {
            continue;
        }
        const auto file = job_file(job.sources, next.path);
        if (!file) {
            refuse_absent(next);
        } else if (file->path.ends_with(".toml")) {
            append(job.documents, toml_settings(file->text, file->path));
        } else {
            read_document(*file, next.role, named, job);
        }
    }
}

/// The flags of `accelerate launch`, which win over its file.
JobSettingList accelerate_flags(const LaunchCommand& command)
{
    JobSettingList flags;
    if (command.launcher == "accelerate") {
        for (JobSetting setting : command.launcher_settings) {
            setting.name = "accelerate." + setting.name;
            flags.push_back(std::move(setting));
        }
    }
    return flags;
}

/// A format, by what its files state.
struct Format {
    const char* name;
    bool (*is)(const FoundFiles&);
    ImportedJob (*read)(const JobSources&, const JobSettingList&);
};

std::string program_of(const FoundFiles& job)
{
    return job.sources.command ? job.sources.command->program : "";
}
bool runs(const FoundFiles& job, std::string_view program)
{
    return program_of(job).find(program) != std::string::npos;
}
bool says(const FoundFiles& job, std::initializer_list<std::string_view> names)
{
    return states_any(job.words, names) || states_any(job.documents, names);
}

const std::vector<Format>& formats()
{
    static const std::vector<Format> all{
        {"slime",
         [](const FoundFiles& job) {
             // OpenRLHF has options of the same names.
             return says(job, {"actor_num_nodes", "rollout_batch_size", "actor_num_gpus_per_node"}) &&
                    !runs(job, "openrlhf");
         },
         [](const JobSources& sources, const JobSettingList& s) {
             return megatron_job(sources, slime_settings(), s);
         }},
        {"Megatron-DeepSpeed",
         [](const FoundFiles& job) {
             return says(job, {"deepspeed_config", "zero_stage"}) && says(job, {"num_layers"});
         },
         [](const JobSources& sources, const JobSettingList& s) {
             return megatron_job(sources, megatron_deepspeed_settings(), s);
         }},
        {"Primus", [](const FoundFiles& job) { return has_section(job.documents, "modules.pre_trainer"); },
         [](const JobSources& sources, const JobSettingList& s) {
             return megatron_job(sources, primus_settings(), s);
         }},
        {"NeMo 1",
         [](const FoundFiles& job) {
             return has_section(job.documents, "trainer.") && has_section(job.documents, "model.");
         },
         [](const JobSources& sources, const JobSettingList& s) {
             return megatron_job(sources, nemo1_settings(), s);
         }},
        {"Megatron-Bridge",
         [](const FoundFiles& job) {
             return says(job, {"recipe", "mixed_precision", "model.tensor_model_parallel_size",
                               "train.global_batch_size", "train.micro_batch_size"});
         },
         [](const JobSources& sources, const JobSettingList& s) {
             return megatron_job(sources, bridge_settings(), s);
         }},
        {"nanotron",
         [](const FoundFiles& job) {
             return has_section(job.documents, "parallelism.dp") && has_section(job.documents, "tokens.");
         },
         nanotron_job},
        {"torchtitan",
         [](const FoundFiles& job) {
             return has_section(job.documents, "training.") || has_section(job.documents, "parallelism.") ||
                    runs(job, "run_train.sh") || runs(job, "torchtitan");
         },
         torchtitan_job},
        {"verl", [](const FoundFiles& job) { return has_section(job.words, "actor_rollout_ref."); },
         verl_job},
        {"MaxText",
         [](const FoundFiles& job) {
             return says(job, {"per_device_batch_size", "base_emb_dim", "ici_fsdp_parallelism"}) ||
                    runs(job, "maxtext") || runs(job, "MaxText");
         },
         maxtext_job},
        {"Megatron-LM",
         [](const FoundFiles& job) {
             return says(job, {"num_layers", "micro_batch_size", "tensor_model_parallel_size"}) &&
                    !says(job, {"base_model"});
         },
         [](const JobSources& sources, const JobSettingList& s) {
             return megatron_job(sources, megatron_settings(), s);
         }},
        {"ms-swift", [](const FoundFiles& job) { return runs(job, "swift "); },
         [](const JobSources& sources, const JobSettingList& s) {
             return transformers_job(sources, swift_settings(), s);
         }},
        {"LLaMA-Factory",
         [](const FoundFiles& job) {
             return runs(job, "llamafactory") || says(job, {"finetuning_type", "cutoff_len"});
         },
         [](const JobSources& sources, const JobSettingList& s) {
             return transformers_job(sources, llama_factory_settings(), s);
         }},
        {"Axolotl",
         [](const FoundFiles& job) {
             return runs(job, "axolotl") || says(job, {"base_model", "sample_packing"});
         },
         [](const JobSources& sources, const JobSettingList& s) {
             return transformers_job(sources, axolotl_settings(), s);
         }},
        {"TRL", [](const FoundFiles& job) { return runs(job, "trl "); },
         [](const JobSources& sources, const JobSettingList& s) {
             return transformers_job(sources, trl_settings(), s);
         }},
        {"Hugging Face Trainer",
         [](const FoundFiles& job) {
             return says(job, {"per_device_train_batch_size", "model_name_or_path",
                               "deepspeed_json.train_micro_batch_size_per_gpu",
                               "deepspeed_json.train_batch_size", "deepspeed_json.zero_optimization.stage"});
         },
         [](const JobSources& sources, const JobSettingList& s) {
             return transformers_job(sources, transformers_settings(), s);
         }},
    };
    return all;
}

[[noreturn]] void refuse_unknown_format(const FoundFiles& job)
{
    const ImportRequest& request = job.sources.request;
    const std::string path = request.files.empty() ? "" : request.files.front().path;
    if (has_section(job.documents, "workload.") &&
        (has_section(job.documents, "cluster.") || has_section(job.documents, "space."))) {
        throw InputError(InputPlace{path, 0}, "is a scenario of prismopt, not a job",
                         fmt::format("predict a plan of it: prismopt predict {0} --design \"...\", or "
                                     "search it: prismopt search {0}",
                                     printable(path)));
    }
    const auto is_blank = [](const JobFile& file) {
        return file.text.find_first_not_of(" \t\r\n") == std::string::npos;
    };
    if (request.command.empty() && std::all_of(request.files.begin(), request.files.end(), is_blank)) {
        throw InputError(InputPlace{path, 0}, "is empty",
                         "give the script or configuration that starts the training");
    }
    if (job.sources.command && serves(*job.sources.command)) {
        throw InputError(job.sources.command->place,
                         "starts a server, and generation token by token is not modelled",
                         "for batches of whole sequences, write a scenario (prismopt init) with task = "
                         "\"inference\" in [workload]");
    }
    for (const std::vector<std::string>* absent : {&job.problems, &job.not_started}) {
        if (!absent->empty()) {
            throw InputError(
                fmt::format("no file states settings of a known trainer, and {}", absent->front()));
        }
    }
    std::vector<std::string> names;
    for (const Format& known : formats()) {
        names.emplace_back(known.name);
    }
    throw InputError(fmt::format(
        "{}{}no file states settings of a known trainer; known are: {}. Give the script or configuration "
        "that starts the training; for another trainer, write a scenario: prismopt init",
        path, path.empty() ? "" : ": ", listed(names)));
}

/// A name of a missing value, and why it has none.
std::string explained(const FoundFiles& job, const std::string& name)
{
    const auto why = job.why.find(name);
    return why == job.why.end() ? name : fmt::format("{} ({})", name, why->second);
}

void refuse_questions(const FoundFiles& job)
{
    if (!job.sources.command || job.sources.command->loose.empty()) {
        return;
    }
    const LaunchCommand& command = *job.sources.command;
    std::vector<std::string> names;
    for (const std::string& name : command.loose) {
        names.push_back(explained(job, name));
    }
    throw InputError(
        command.place, fmt::format("{} may hold arguments, but has no value here", listed(names)),
        fmt::format("add --set '{}=ARGUMENTS', empty if it has none, or the FILE that sets it{}{}",
                    command.loose.front(), job.problems.empty() ? "" : "; ",
                    job.problems.empty() ? "" : job.problems.front()));
}

/// Whether a name that the user sets stands in some file.
bool names_variable(const ImportRequest& request, const std::string& name)
{
    const std::string braced = name.starts_with('$') ? fmt::format("${{{}", name.substr(1)) : name;
    const auto names = [&](const std::string& text) {
        return text.find(name) != std::string::npos || text.find(braced) != std::string::npos;
    };
    return names(request.command) || std::any_of(request.files.begin(), request.files.end(),
                                                 [&](const JobFile& file) { return names(file.text); });
}

/// Says beside the names of missing values why they have none.
void explain_missing(const FoundFiles& job, JobSettingList& settings)
{
    for (JobSetting& setting : settings) {
        for (std::string& name : setting.missing) {
            name = explained(job, name);
        }
    }
}

void refuse_binary(const JobFile& file)
{
    const auto is_control = [](unsigned char c) {
        return c == 0 || (c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\x1b');
    };
    constexpr std::ptrdiff_t share = 20;  // one character in so many may be a control character
    const std::ptrdiff_t controls = std::count_if(file.text.begin(), file.text.end(), is_control);
    if (file.text.find('\0') != std::string::npos ||
        controls * share > static_cast<std::ptrdiff_t>(file.text.size())) {
        throw InputError(InputPlace{file.path, 0}, "is a binary file",
                         "give the script or configuration that starts the training");
    }
}

void use_arguments(const JobFile& file, FoundFiles& job)
{
    LaunchCommand command = argument_file(file.text, file.path);
    if (!job.sources.command || job.sources.command->settings.size() < command.settings.size()) {
        job.sources.command = std::move(command);
    }
}

/// Adds the commands of scripts and of files of arguments. A script that another one of the job sources or
/// starts is read with that one.
void read_commands(FoundFiles& job)
{
    const ImportRequest& request = job.sources.request;
    std::map<std::string, ShellScript> scripts;
    std::set<std::string> nested;
    const auto read = [&](const JobFile& file) {
        const ShellScript& script = scripts[file.path] = shell_script(file, job.sources);
        nested.insert(script.read.begin(), script.read.end());
    };
    for (const JobFile& file : request.files) {
        refuse_binary(file);
        if (kind_of(file) == FileKind::shell) {
            read(file);
        }
    }
    const JobFile command{"--command", request.command};
    read(command);
    for (const JobFile& file : request.files) {
        if (kind_of(file) == FileKind::arguments) {
            use_arguments(file, job);
        } else if (scripts.contains(file.path) && !nested.contains(file.path)) {
            use_script(file, scripts[file.path], job);
        }
    }
    use_script(command, scripts[command.path], job);
}

/// Adds the configurations of the user, then those that they and the command name.
void read_configurations(FoundFiles& job)
{
    std::vector<NamedFile> named =
        job.sources.command ? files_of(*job.sources.command) : std::vector<NamedFile>{};
    for (const JobFile& file : job.sources.request.files) {
        if (kind_of(file) == FileKind::document) {
            add_named_files(document_settings(file.text, file.path), named);
        }
    }
    for (const JobFile& file : job.sources.request.files) {
        const DocumentRole role = role_of(file.path, named);
        switch (kind_of(file)) {
            case FileKind::shell:
            case FileKind::arguments: break;  // read_command()
            case FileKind::document: read_document(file, role, named, job); break;
            case FileKind::toml: append(job.documents, toml_settings(file.text, file.path)); break;
            case FileKind::python: append(job.documents, python_settings(file.text, file.path)); break;
            case FileKind::model:
                if (role != DocumentRole::by_content) {  // else read_model() finds it
                    read_document(file, role, named, job);
                }
                break;
        }
    }
    read_named_files(std::move(named), job);
}

std::string some_of(const std::vector<std::string>& names)
{
    constexpr std::size_t most = 3;
    return names.size() <= most
               ? listed(names)
               : fmt::format("{}, {}, {} and {} more", names[0], names[1], names[2], names.size() - most);
}

/// Names that a configuration states again with another value, as an overlay does, or another job.
void note_repeated_settings(FoundFiles& job)
{
    std::map<std::string, const JobSetting*> stated;
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> repeated;  // by files
    for (const JobSetting& setting : job.documents) {
        const JobSetting*& before = stated[setting.name];
        if (before != nullptr && before->place.file != setting.place.file &&
            before->values != setting.values) {
            repeated[{before->place.file, setting.place.file}].push_back(setting.name);
        }
        before = &setting;
    }
    for (const auto& [files, names] : repeated) {
        job.problems.push_back(fmt::format(
            "{0} and {1} differ in {2}: the values of {1} are read; if they are of two jobs, import one "
            "at a time",
            printable(files.first), printable(files.second), some_of(names)));
    }
}

}  // namespace

ImportedJob imported_job(const ImportRequest& request, const Catalog& catalog)
{
    FoundFiles job{.sources = {request, catalog, {}, {}, {}}};
    read_commands(job);
    if (job.sources.command) {
        refuse_questions(job);
        job.words = job.sources.command->settings;
    }
    read_configurations(job);
    if (job.sources.command) {
        append(job.documents, accelerate_flags(*job.sources.command));
    }
    note_repeated_settings(job);
    resolve_references(job.documents, request.set);
    for (const auto& [name, value] : request.set) {
        job.words.push_back({name, {value}, {}, {"--set", 0}});
    }
    const auto format = std::find_if(formats().begin(), formats().end(),
                                     [&job](const Format& known) { return known.is(job); });
    if (format == formats().end()) {
        refuse_unknown_format(job);
    }
    JobSettingList settings = job.documents;
    append(settings, job.words);
    explain_missing(job, settings);
    ImportedJob read = format->read(job.sources, settings);
    read.scripts.assign(job.read.begin(), job.read.end());
    for (const std::string& problem : job.problems) {
        read.report.assumed.push_back(problem);
    }
    if (read.steps <= 0.0) {
        read.report.assumed.push_back(
            fmt::format("{:.0f} steps: no file states how many the training takes", assumed_steps));
    }
    std::erase_if(read.report.unknown, [&request](const ImportedValue& value) {  // variables of scripts
        return value.place.file == "--set" && names_variable(request, value.name);
    });
    return read;
}

}  // namespace prismopt
