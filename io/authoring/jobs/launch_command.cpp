#include "io/authoring/jobs/launch_command.hpp"

#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

namespace prismopt {

namespace {

/// A program of two words, or a script that is no Python: what stands behind are its arguments.
struct TwoWords {
    std::string_view program;
    std::array<std::string_view, 6> tasks;
};
constexpr std::array<TwoWords, 7> programs{{{"swift", {"sft", "pt", "rlhf"}},
                                            {"megatron", {"sft", "pt", "rlhf"}},
                                            {"llamafactory-cli", {"train"}},
                                            {"trl", {"sft", "dpo", "grpo", "reward", "kto", "rloo"}},
                                            {"axolotl", {"train"}},
                                            {"nemo", {"llm"}},
                                            {"vllm", {"serve"}}}};
constexpr std::array<std::string_view, 3> wrappers{"run_train.sh", "train.sh", "run_pretrain.sh"};
constexpr std::array<std::string_view, 7> launchers{"torchrun", "deepspeed", "accelerate", "srun",
                                                    "mpirun",   "mpiexec",   "sbatch"};

std::string file_name(std::string_view path)
{
    const std::size_t slash = path.find_last_of('/');
    return std::string(path.substr(slash == std::string_view::npos ? 0 : slash + 1));
}

bool is_launcher_module(std::string_view module)
{
    return module.starts_with("torch.distributed") || module == "accelerate.commands.launch";
}

struct Found {
    std::size_t first_argument = 0;  // 0: no program
    std::string program;
    std::size_t begin = 0;  // of the program
};

/// Where the program's arguments begin.
Found program_in(const std::vector<ShellWord>& words)
{
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        if (names_module(words, i) && i + 1 < words.size() && !is_launcher_module(words[i + 1].text)) {
            return {i + 2, words[i + 1].text, i};
        }
        const std::string name = file_name(word);
        if (word.ends_with(".py") && !word.starts_with("-") && word.find('=') == std::string::npos) {
            // swift/cli/sft.py of ms-swift is what `swift sft` starts.
            const bool of_swift = word.ends_with("swift/cli/" + name);
            return {i + 1, of_swift ? "swift " + name.substr(0, name.size() - 3) : name, i};
        }
        for (const TwoWords& two : programs) {
            const bool task =
                i + 1 < words.size() && !words[i + 1].text.empty() &&
                std::find(two.tasks.begin(), two.tasks.end(), words[i + 1].text) != two.tasks.end();
            if (name == two.program && task) {
                return {i + 2, fmt::format("{} {}", name, words[i + 1].text), i};
            }
        }
        if (std::find(wrappers.begin(), wrappers.end(), name) != wrappers.end()) {
            return {i + 1, name, i};
        }
    }
    return {};
}

bool begins_option(const std::string& word)
{
    return word.size() > 1 && word[0] == '-' &&
           (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])) != 0);
}

/// Position of "=" in "model.a=1", "+a.b=1"; npos: it is no such word.
std::size_t override_sign(std::string_view word)
{
    std::size_t at = 0;
    while (at < word.size() && (word[at] == '+' || word[at] == '~')) {
        ++at;
    }
    const std::size_t begin = at;
    while (at < word.size() &&
           (std::isalnum(static_cast<unsigned char>(word[at])) != 0 || word[at] == '_' || word[at] == '.')) {
        ++at;
    }
    const bool named = at > begin && std::isalpha(static_cast<unsigned char>(word[begin])) != 0;
    return named && at < word.size() && word[at] == '=' ? at : std::string_view::npos;
}

std::string without_dashes(const std::string& word)
{
    return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

void add_settings(const std::vector<ShellWord>& words, std::size_t first, std::size_t last,
                  const InputPlace& place, JobSettingList& settings, LaunchCommand& command)
{
    bool open = false;  // whether words belong to the last setting
    for (std::size_t i = first; i < std::min(last, words.size()); ++i) {
        const ShellWord& word = words[i];
        const InputPlace& own = word.place.line > 0 ? word.place : place;
        if (begins_option(word.text)) {
            const std::size_t equals = word.text.find('=');
            JobSetting setting{without_dashes(word.text.substr(0, equals)), {}, word.missing, own, true};
            if (equals != std::string::npos) {
                setting.values.push_back(word.text.substr(equals + 1));
            }
            settings.push_back(std::move(setting));
            open = equals == std::string::npos;
        } else if (const std::size_t equals = override_sign(word.text); equals != std::string_view::npos) {
            const std::size_t begin = word.text.find_first_not_of("+~");
            settings.push_back(
                {word.text.substr(begin, equals - begin), {word.text.substr(equals + 1)}, word.missing, own});
            open = false;
        } else if (word.text.empty() && !word.known() && (!open || !settings.back().values.empty())) {
            command.loose.insert(command.loose.end(), word.missing.begin(), word.missing.end());
        } else if (open) {
            settings.back().values.push_back(word.text);
            settings.back().missing.insert(settings.back().missing.end(), word.missing.begin(),
                                           word.missing.end());
        } else if (!word.text.empty()) {
            command.files.push_back(word.text);
        }
    }
}

/// Words separated by blanks, or in quotes.
std::vector<ShellWord> quoted_words(std::string_view line, const InputPlace& place)
{
    std::vector<ShellWord> words;
    bool open = false;
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        const bool blank = c == ' ' || c == '\t' || c == '\r';
        if (quote == '\0' && (blank || (c == '\\' && i + 1 == line.size()))) {
            open = false;
            continue;
        }
        if (!open) {
            words.emplace_back();
            open = true;
        }
        if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = '\0';
        } else {
            words.back().text += c;
        }
    }
    if (quote != '\0') {
        throw InputError(place, fmt::format("{} is not closed", quote),
                         fmt::format("close it with {}", quote));
    }
    return words;
}

/// Names as launchers have them, with "_".
JobSettingList launcher_options(const std::vector<ShellWord>& words, const InputPlace& place)
{
    JobSettingList options;
    LaunchCommand others;  // files and loose words are no options
    add_settings(words, 0, words.size(), place, options, others);
    for (JobSetting& option : options) {
        std::replace(option.name.begin(), option.name.end(), '-', '_');
    }
    return options;
}

/// The words with "-N", "4" for "-N4", as the commands of Slurm read it (getopt).
std::vector<ShellWord> with_separate_values(const std::vector<ShellWord>& words)
{
    std::vector<ShellWord> separate;
    for (const ShellWord& word : words) {
        const bool glued =
            begins_option(word.text) && word.text[1] != '-' && word.text.size() > 2 && word.text[2] != '=';
        separate.push_back(word);
        if (glued) {
            separate.back().text = word.text.substr(0, 2);
            separate.back().missing.clear();
            separate.push_back(word);
            separate.back().text = word.text.substr(2);
        }
    }
    return separate;
}

/// The line up to a "#" that is not in quotes.
std::string_view without_comment(std::string_view line)
{
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote == '\0' && c == '#') {
            return line.substr(0, i);
        }
        if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = '\0';
        }
    }
    return line;
}

/// The options of "#SBATCH" lines, each of which may have several.
JobSettingList slurm_options(const std::vector<std::string>& directives)
{
    JobSettingList options;
    for (const std::string& line : directives) {
        const InputPlace place{fmt::format("#SBATCH {}", line), 0};
        const auto words = with_separate_values(quoted_words(without_comment(line), place));
        for (JobSetting& option : launcher_options(words, place)) {
            options.push_back(std::move(option));
        }
    }
    return options;
}

LaunchCommand launch_of(const ShellCommand& shell, const Found& found)
{
    LaunchCommand command;
    command.place = shell.place;
    command.program = found.program;
    command.directives = shell.directives;
    for (const auto& [name, value] : shell.environment) {
        if (value.known()) {
            command.environment[name] = value.text;
        }
    }
    const std::size_t arguments = found.first_argument;
    for (std::size_t i = 0; i < arguments; ++i) {
        const std::string name = file_name(shell.words[i].text);
        if (std::find(launchers.begin(), launchers.end(), name) != launchers.end()) {
            command.launcher = name;
        } else if (is_launcher_module(name)) {
            command.launcher = "torchrun";
        }
    }
    std::vector<ShellWord> words(shell.words.begin(),
                                 shell.words.begin() + static_cast<std::ptrdiff_t>(found.begin));
    if (command.launcher == "srun") {
        words = with_separate_values(words);
    }
    command.launcher_settings = launcher_options(words, shell.place);
    add_settings(shell.words, arguments, shell.words.size(), shell.place, command.settings, command);
    return command;
}

std::optional<int> leading_count(std::string text)
{
    text = text.substr(0, text.find_first_of(":-"));  // min-max, N:M
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    constexpr int most = 1'000'000;
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && number > 0 && number <= most ? std::optional(number) : std::nullopt;
}

/// The value of the last option of Slurm that has one of these names; empty: there is none.
std::string slurm_value(const JobSettingList& options, std::initializer_list<std::string_view> names)
{
    std::string value;
    for (const JobSetting& option : options) {
        const bool named = std::find(names.begin(), names.end(), option.name) != names.end();
        if (named && !option.values.empty()) {
            value = option.values.front();
        }
    }
    return value;
}

/// GPUs and their type in "gpu:h100:8", "gpu:8", "h100:8", "8".
std::pair<int, std::string> gpus_of(std::string text)
{
    std::istringstream resources(text);  // "nvme:1,gpu:8"
    for (std::string resource; std::getline(resources, resource, ',');) {
        if (resource == "gpu" || resource.starts_with("gpu:")) {
            text = resource == "gpu" ? "1" : resource.substr(4);
        }
    }
    text = text.substr(0, text.find(','));
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) {
        const auto number = leading_count(text);
        return {number.value_or(0), number ? "" : text};
    }
    return {leading_count(text.substr(colon + 1)).value_or(0), text.substr(0, colon)};
}

/// Names of features in "a100&80g" or "[rack1*2]".
std::vector<std::string> features_of(const std::string& constraint)
{
    std::vector<std::string> features;
    std::string feature;
    for (const char letter : constraint + '&') {
        if (std::string_view("&|,()[]*").find(letter) == std::string_view::npos) {
            feature += letter;
            continue;
        }
        if (feature.find_first_not_of("0123456789") != std::string::npos) {  // numbers count nodes
            features.push_back(feature);
        }
        feature.clear();
    }
    return features;
}

struct SlurmMachine {
    int nodes = 0;
    int node_gpus = 0;
    int gpus = 0;
    std::string type;
    int tasks = 0;
    int node_tasks = 0;
    bool states_nodes = false;  // else the nodes are Slurm's default
};

SlurmMachine slurm_machine(const JobSettingList& options)
{
    SlurmMachine m;
    m.nodes = leading_count(slurm_value(options, {"nodes", "N"})).value_or(0);
    m.states_nodes = m.nodes > 0;
    m.tasks = leading_count(slurm_value(options, {"ntasks", "n"})).value_or(0);
    m.node_tasks = leading_count(slurm_value(options, {"ntasks_per_node"})).value_or(0);
    for (const std::string& text :
         {slurm_value(options, {"gres"}), slurm_value(options, {"gpus_per_node"})}) {
        if (!text.empty()) {
            const auto [count, type] = gpus_of(text);
            if (count > 0) {
                m.node_gpus = count;
            }
            if (!type.empty()) {
                m.type = type;
            }
        }
    }
    const auto [all, type] = gpus_of(slurm_value(options, {"gpus", "G"}));
    m.gpus = all;
    if (!type.empty()) {
        m.type = type;
    }
    const auto [of_task, task_type] = gpus_of(slurm_value(options, {"gpus_per_task"}));
    if (!task_type.empty()) {
        m.type = task_type;
    }
    if (m.node_gpus == 0 && of_task > 0) {
        m.node_gpus = of_task * m.node_tasks;
    }
    if (m.nodes == 0 && (m.node_gpus > 0 || m.node_tasks > 0)) {
        m.nodes = 1;
    }
    return m;
}

/// How the count of the launcher, which is read, differs from that of Slurm; empty: it does not.
std::string difference_from_slurm(const JobMachine& machine, const SlurmMachine& slurm)
{
    const int allocated = slurm.nodes * slurm.node_gpus;
    if (machine.gpus > 0 && allocated > machine.gpus) {
        return fmt::format("the launcher uses {} of the {} GPUs that Slurm allocates", machine.gpus,
                           allocated);
    }
    if (!slurm.states_nodes || machine.gpus == 0) {
        return "";
    }
    if (allocated > 0 && allocated < machine.gpus) {
        return fmt::format("{} GPUs as the launcher has them; Slurm allocates {}", machine.gpus, allocated);
    }
    return machine.nodes > 0 && machine.nodes != slurm.nodes
               ? fmt::format("{} nodes as the launcher has them; Slurm allocates {}", machine.nodes,
                             slurm.nodes)
               : "";
}

class LauncherValues {
public:
    LauncherValues(const LaunchCommand& command, JobMachine& machine) : command_(command), machine_(machine)
    {
    }

    /// Returns the value of the last setting with one of these names; zero if there is none.
    int number(std::initializer_list<std::string_view> names)
    {
        int found = 0;
        for (const JobSetting& setting : command_.launcher_settings) {
            if (std::find(names.begin(), names.end(), setting.name) != names.end()) {
                found = setting.missing.empty()
                            ? leading_count(setting.values.empty() ? "" : setting.values.front()).value_or(0)
                            : 0;
                machine_.missing.insert(machine_.missing.end(), setting.missing.begin(),
                                        setting.missing.end());
            }
        }
        return found;
    }
    bool has(std::string_view name) const
    {
        return std::any_of(command_.launcher_settings.begin(), command_.launcher_settings.end(),
                           [name](const JobSetting& setting) { return setting.name == name; });
    }
    int environment(const char* name) const
    {
        const auto found = command_.environment.find(name);
        return found == command_.environment.end() ? 0 : leading_count(found->second).value_or(0);
    }

private:
    const LaunchCommand& command_;
    JobMachine& machine_;
};

}  // namespace

LaunchCommand argument_file(const std::string& text, const std::string& path)
{
    LaunchCommand command;
    command.place = {path, 0};
    int line = 1;
    for (std::size_t at = 0; at < text.size(); ++line) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view own = std::string_view(text).substr(at, end - at);
        at = end + 1;
        if (!own.starts_with('#')) {
            add_settings(quoted_words(own, {path, line}), 0, std::string::npos, {path, line},
                         command.settings, command);
        }
    }
    return command;
}

std::vector<LaunchCommand> launch_commands(const ShellScript& script, const std::string& path)
{
    std::vector<LaunchCommand> commands;
    for (const ShellCommand& shell : script.commands) {
        const Found found = program_in(shell.words);
        if (found.first_argument > 0) {
            commands.push_back(launch_of(shell, found));
        }
    }
    if (commands.empty()) {  // definitions that another script uses
        LaunchCommand all;
        all.place = {path, 0};
        for (const auto& [name, words] : script.variables) {
            if (!words.empty() && begins_option(words.front().text)) {
                add_settings(words, 0, words.size(), {path, 0}, all.settings, all);
            }
        }
        if (!all.settings.empty()) {
            commands.push_back(std::move(all));
        }
    }
    std::stable_sort(commands.begin(), commands.end(), [](const LaunchCommand& a, const LaunchCommand& b) {
        return a.settings.size() + a.files.size() > b.settings.size() + b.files.size();
    });
    return commands;
}

std::map<std::string, std::string> slurm_environment(const std::vector<std::string>& directives)
{
    const SlurmMachine m = slurm_machine(slurm_options(directives));
    std::map<std::string, std::string> variables;
    for (const char* any : {"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"}) {
        variables[any] = "0";  // of one process of one job
    }
    const auto set = [&variables](const char* name, int value) {
        if (value > 0) {
            variables[name] = std::to_string(value);
        }
    };
    set("SLURM_NNODES", m.nodes);
    set("SLURM_JOB_NUM_NODES", m.nodes);
    set("SLURM_GPUS_ON_NODE", m.node_gpus);
    set("SLURM_GPUS_PER_NODE", m.node_gpus);
    set("SLURM_NTASKS_PER_NODE", m.node_tasks);
    const int tasks = m.tasks > 0 ? m.tasks : m.nodes * m.node_tasks;
    set("SLURM_NTASKS", tasks);
    set("SLURM_NPROCS", tasks);
    return variables;
}

JobMachine job_machine(const LaunchCommand& command, const std::vector<std::string>& directives)
{
    JobMachine machine;
    LauncherValues launcher(command, machine);
    const JobSettingList options = slurm_options(directives);
    const SlurmMachine slurm = slurm_machine(options);
    int nodes = 0;
    int node_gpus = 0;
    if (command.launcher == "torchrun") {
        const bool of_gpus = launcher.has("nproc_per_node");
        nodes = launcher.number({"nnodes"});
        node_gpus = launcher.number({"nproc_per_node"});
        if (nodes == 0 && !launcher.has("nnodes")) {
            nodes = 1;
        }
        if (node_gpus == 0 && !of_gpus) {
            node_gpus = 1;
        }
    } else if (command.launcher == "deepspeed") {
        nodes = launcher.number({"num_nodes"});
        node_gpus = launcher.number({"num_gpus"});
        if (nodes == 0 && !launcher.has("hostfile") && !launcher.has("num_nodes")) {
            nodes = 1;
        }
    } else if (command.launcher == "accelerate") {
        machine.gpus = launcher.number({"num_processes"});
        nodes = launcher.number({"num_machines"});
    } else if (command.launcher == "mpirun" || command.launcher == "mpiexec") {
        machine.gpus = launcher.number({"np", "n"});
    } else if (command.launcher == "srun") {
        nodes = launcher.number({"nodes", "N"});
        machine.gpus = launcher.number({"ntasks", "n"});
    }
    if (machine.missing.empty()) {
        if (nodes <= 0) {
            nodes = launcher.environment("NNODES");
        }
        if (node_gpus <= 0) {
            node_gpus = launcher.environment("NPROC_PER_NODE");
        }
        if (machine.gpus <= 0) {
            machine.gpus = launcher.environment("NGPU");
        }
        if (nodes <= 0) {
            nodes = slurm.nodes;
        }
        if (node_gpus <= 0) {
            node_gpus = slurm.node_gpus;
        }
        if (nodes == 0 && command.launcher.empty() && node_gpus > 0) {  // NPROC_PER_NODE alone
            nodes = 1;
        }
    }
    if (machine.gpus == 0) {
        machine.gpus = nodes > 0 && node_gpus > 0 ? nodes * node_gpus : slurm.gpus;
    }
    if (node_gpus == 0 && nodes > 0 && machine.gpus % nodes == 0) {
        node_gpus = machine.gpus / nodes;
    }
    machine.nodes = nodes;
    machine.node_gpus = node_gpus;
    if (std::string note = difference_from_slurm(machine, slurm); !note.empty()) {
        machine.notes.push_back(std::move(note));
    }
    machine.accelerators = {{slurm.type, "the type of GPUs that Slurm allocates"}};
    for (std::string& feature : features_of(slurm_value(options, {"constraint", "C"}))) {
        machine.accelerators.push_back({std::move(feature), "the constraint of Slurm"});
    }
    machine.accelerators.push_back({slurm_value(options, {"partition", "p"}), "the partition"});
    std::erase_if(machine.accelerators, [](const JobMachine::Hint& hint) { return hint.word.empty(); });
    return machine;
}

}  // namespace prismopt
