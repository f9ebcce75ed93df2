#include "io/authoring/shell/shell_started.hpp"

#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>

namespace prismopt::shell {

namespace {

std::string last_name(const ShellWord& path) { return path.text.substr(path.text.find_last_of('/') + 1); }

/// The file of that name, of which the folder may be unknown: one that the script writes, else one beside it.
std::optional<ShellFile> file_named(const Reader& r, const ShellWord& path)
{
    const std::string name = path.known() ? path.text : last_name(path);
    for (const auto& [own, text] : r.script.files) {
        if (own == name || "./" + own == name) {
            return ShellFile{own, text};
        }
    }
    return r.inputs.read == nullptr || last_name(path).empty() ? std::nullopt
                                                               : r.inputs.read(name, r.inputs.from);
}

/// Reads commands of another text.
void run_nested(Reader& r, const Text& in, const ShellFile& file, int line, const When& when)
{
    if (++r.depth > deepest_nesting) {
        refuse(in, in.line, fmt::format("{} reads itself again and again", printable(file.path)),
               "remove the circle");
    }
    grow(r, in, file.text.size());
    run_text(r, file.text, file.path, line, when);
    --r.depth;
}

void run_file(Reader& r, const Text& in, ShellFile file, const When& when)
{
    std::replace(file.text.begin(), file.text.end(), ShellWord::mark, ' ');
    r.script.read.push_back(file.path);
    r.open.push_back(file.path);
    run_nested(r, in, file, 1, when);
    r.open.pop_back();
}

/// The script that a word names, unless it is being read: a script may submit itself.
std::optional<ShellFile> script_named(Reader& r, const ShellWord& path)
{
    auto file = file_named(r, path);
    const bool is_open = file && std::find(r.open.begin(), r.open.end(), file->path) != r.open.end();
    const bool itself =
        is_open && file->path.ends_with(last_name(path)) && path.text.find('/') == std::string::npos;
    if ((!file || is_open) && !itself) {
        r.script.not_started.push_back(path.text);
    }
    return is_open ? std::nullopt : file;
}

/// What starts scripts by their path, beside shells.
constexpr std::array<std::string_view, 15> starters{"srun",   "mpirun", "mpiexec", "sbatch",    "exec",
                                                    "nohup",  "time",   "env",     "apptainer", "singularity",
                                                    "docker", "podman", "enroot",  "nsys",      "numactl"};

bool names_script(const std::string& word)
{
    constexpr std::array<std::string_view, 4> endings{".sh", ".bash", ".sbatch", ".slurm"};
    return std::any_of(endings.begin(), endings.end(),
                       [&word](std::string_view ending) { return word.ends_with(ending); });
}

bool is_plain(const std::string& word)
{
    return !word.empty() && !word.starts_with('-') && word.find_first_of("=: \t") == std::string::npos;
}

/// Whether an option of `srun` names a program that runs around each task, and not the task.
bool names_hook(const std::string& option)
{
    return option.starts_with("--") && (option.ends_with("prolog") || option.ends_with("epilog"));
}

/// Whether the word before `at` is a shell, with or without options.
bool behind_shell(const std::vector<ShellWord>& words, std::size_t at)
{
    while (at > 0 && words[at - 1].text.starts_with('-')) {
        --at;
    }
    return at > 0 && is_shell(words[at - 1].text);
}

/// Position of the script that a command starts; nothing: it starts none.
std::optional<std::size_t> started_script(const Reader& r, const std::vector<ShellWord>& words)
{
    const std::string first = last_name(words.front());
    const bool by_starter = std::find(starters.begin(), starters.end(), first) != starters.end();
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        if (word.ends_with(".py") || names_module(words, i)) {
            return std::nullopt;  // the arguments of a program follow
        }
        if (!is_plain(word) || (i > 0 && names_hook(words[i - 1].text))) {
            continue;
        }
        const bool by_path = names_script(word) && (i == 0 || by_starter);
        const bool submitted = first == "sbatch" && i > 0 && file_named(r, words[i]);
        if (by_path || submitted || behind_shell(words, i)) {
            return i;
        }
    }
    return std::nullopt;
}

constexpr std::size_t plain_arguments = 9;  // $1 to $9; ${10} has braces

/// $1, $2, ..., $@, $* and $#.
void give_arguments(Reader& r, const ShellValue& arguments, int line)
{
    const auto known = r.script.variables.find("$@");
    const std::size_t before = known == r.script.variables.end() ? 0 : known->second.size();
    for (std::size_t i = 0; i < std::max({arguments.size(), before, plain_arguments}); ++i) {
        give(r, fmt::format("${}", i + 1), {i < arguments.size() ? arguments[i] : ShellWord{}}, {}, line);
    }
    give(r, "$@", arguments, {}, line);
    give(r, "$*", arguments, {}, line);
    give(r, "$#", {shell_word_of(std::to_string(arguments.size()))}, {}, line);
}

/// Variables that words before a script give it: env A=1, --export=ALL,A=1, mpirun -x A=1.
std::map<std::string, ShellWord> given_variables(const std::vector<ShellWord>& words, std::size_t last)
{
    std::map<std::string, ShellWord> variables;
    for (std::size_t i = 0; i < last; ++i) {
        std::string text = words[i].marked;
        for (const std::string_view option : {"--export=", "--env="}) {
            if (text.starts_with(option)) {
                text.erase(0, option.size());
                std::replace(text.begin(), text.end(), ',', '\n');
            }
        }
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            const std::size_t length = assigned_name(line);
            if (length > 0 && line[length] == '=') {
                variables[line.substr(0, length)] = shell_word_of(line.substr(length + 1), words[i].place);
            }
        }
    }
    return variables;
}

/// The options before `last`, as a line of "#SBATCH".
std::string option_line(const std::vector<ShellWord>& words, std::size_t last)
{
    std::string line;
    for (std::size_t i = 1; i < last; ++i) {
        const std::string& word = words[i].text;
        if (is_shell(word)) {
            break;
        }
        const bool plain = words[i].known() && word.find_first_of(" \t\"'") == std::string::npos;
        if (plain && !word.starts_with("--wrap")) {
            line += word + ' ';
        }
    }
    return line;
}

/// Runs commands as a process: it has the exported variables, those of Slurm in a job or step, and `more`.
template <class Run>
void run_process(Reader& r, const std::vector<std::string>& directives,
                 const std::map<std::string, ShellWord>& more, int line, const Run& run)
{
    const auto variables = r.script.variables;
    std::erase_if(r.script.variables, [&r](const auto& variable) {
        const std::string& name = variable.first;
        return !r.exports_all && !r.exported.contains(name) && !r.inputs.given.contains(name) &&
               !r.inputs.environment.contains(name);
    });
    if (r.inputs.job_variables != nullptr && !directives.empty()) {
        for (const auto& [name, value] : r.inputs.job_variables(directives)) {
            give(r, name, {shell_word_of(value)}, {}, line);
        }
    }
    for (const auto& [name, value] : more) {
        give(r, name, {value}, {}, line);
    }
    run();
    r.script.variables = variables;
}

/// Runs a script as a process, with the words behind it as arguments.
void run_script(Reader& r, const Text& in, const Started& started, std::size_t at, ShellFile file,
                const std::vector<std::string>& directives, const When& when)
{
    std::map<std::string, ShellWord> more = started.environment;
    more.merge(given_variables(started.words, at));
    run_process(r, directives, more, started.line, [&] {
        const auto first = started.words.begin() + static_cast<std::ptrdiff_t>(at) + 1;
        give_arguments(r, {first, started.words.end()}, started.line);
        run_file(r, in, std::move(file), when);
    });
}

/// The text of --wrap, marked; empty: there is none.
std::string wrapped_text(const std::vector<ShellWord>& words)
{
    constexpr std::string_view wrap = "--wrap";
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i].text == wrap && i + 1 < words.size()) {
            return words[i + 1].marked;
        }
        if (words[i].text.starts_with("--wrap=")) {
            return words[i].marked.substr(wrap.size() + 1);
        }
    }
    return "";
}

std::optional<long> count_of(const std::string& text)
{
    long count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    return error == std::errc{} && end == text.data() + text.size() && count >= 0 ? std::optional(count)
                                                                                  : std::nullopt;
}

}  // namespace

bool is_shell(std::string_view word)
{
    return word == "bash" || word == "sh" || word.ends_with("/bash") || word.ends_with("/sh");
}

void source(Reader& r, const Text& in, const std::vector<ShellWord>& words, int line, const When& when)
{
    const ShellWord& path = words[1];
    auto file = file_named(r, path);
    if (!file) {
        r.script.not_sourced.push_back(last_name(path).empty() ? "a file" : last_name(path));
        return;
    }
    const auto is_argument = [](const std::string& name) { return name.starts_with('$'); };
    std::map<std::string, ShellValue> before;
    for (const auto& [name, value] : r.script.variables) {
        if (is_argument(name)) {
            before[name] = value;
        }
    }
    if (words.size() > 2) {
        give_arguments(r, {words.begin() + 2, words.end()}, line);
    }
    run_file(r, in, std::move(*file), when);
    if (words.size() > 2) {
        std::erase_if(r.script.variables, [&](const auto& variable) { return is_argument(variable.first); });
        r.script.variables.merge(before);
    }
}

bool start_script(Reader& r, const Text& in, const Started& started, const When& when)
{
    const std::vector<ShellWord>& words = started.words;
    const auto at = started_script(r, words);
    if (!at) {
        return false;
    }
    auto file = script_named(r, words[*at]);
    if (!file) {
        return false;
    }
    std::vector<std::string> directives;
    const std::string options = option_line(words, *at);
    if (last_name(words.front()) == "srun" && !options.empty()) {  // a step has variables of its own
        directives = r.directives.value_or(r.script.directives);
        directives.push_back(options);
    }
    const std::size_t first = r.script.commands.size();
    run_script(r, in, started, *at, std::move(*file), directives, when);
    const auto before = std::find_if(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(*at),
                                     [](const ShellWord& word) { return is_shell(word.text); });
    for (std::size_t i = first; i < r.script.commands.size(); ++i) {
        ShellCommand& command = r.script.commands[i];
        command.words.insert(command.words.begin(), words.begin(), before);
        command.environment.insert(started.environment.begin(), started.environment.end());
    }
    return r.script.commands.size() > first;
}

bool submit_job(Reader& r, const Text& in, const Started& started, const When& when)
{
    const std::vector<ShellWord>& words = started.words;
    if (last_name(words.front()) != "sbatch") {
        return false;
    }
    const std::string wrapped = wrapped_text(words);
    const auto at = wrapped.empty() ? started_script(r, words) : std::nullopt;
    const std::size_t end = at.value_or(words.size());  // of the options
    auto file = at ? script_named(r, words[end]) : std::nullopt;
    if (at && !file) {
        return false;
    }
    const std::string& other = wrapped.empty() ? started.input.marked : wrapped;
    const std::string text = file ? file->text : other;
    std::vector<std::string> directives = sbatch_directives(text);
    const std::string options = option_line(words, end);
    if (!options.empty()) {
        directives.push_back(options);
    }
    const std::size_t first = r.script.commands.size();
    const auto outer = r.directives;
    r.directives = directives;
    if (file) {
        run_script(r, in, started, end, std::move(*file), directives, when);
    } else {
        const int line = started.line + (wrapped.empty() ? 1 : 0);  // a here-document follows the command
        std::map<std::string, ShellWord> more = started.environment;
        more.merge(given_variables(words, words.size()));
        run_process(r, directives, more, started.line, [&] {
            run_nested(r, in, {in.path, text}, line, when);
        });
    }
    r.directives = outer;
    return r.script.commands.size() > first;
}

void set_options(Reader& r, const std::vector<ShellWord>& words, int line, const When& when)
{
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i].text == "--" && when.runs == Runs::yes) {
            give_arguments(r, {words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end()}, line);
            return;
        }
        r.exports_all = r.exports_all || words[i].text == "-a" || words[i].text == "allexport";
    }
}

void shift_arguments(Reader& r, const std::vector<ShellWord>& words, int line, const When& when)
{
    const auto all = r.script.variables.find("$@");
    if (all == r.script.variables.end() || when.runs == Runs::no) {
        return;
    }
    ShellValue arguments = all->second;
    const std::optional<long> count = words.size() > 1 ? count_of(words[1].text) : std::optional(1L);
    if (when.runs == Runs::yes && count) {
        const auto dropped = std::min<std::size_t>(static_cast<std::size_t>(*count), arguments.size());
        arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(dropped));
        give_arguments(r, arguments, line);
        return;
    }
    std::vector<std::string> names{"$@", "$*", "$#"};
    for (std::size_t i = 1; i <= std::max(arguments.size(), plain_arguments); ++i) {
        names.push_back(fmt::format("${}", i));
    }
    for (const std::string& name : names) {
        give_unknown(r, name, fmt::format("is shifted in line {}", line), when);
    }
}

}  // namespace prismopt::shell

namespace prismopt {

bool names_module(const std::vector<ShellWord>& words, std::size_t at)
{
    if (words[at].text != "-m") {
        return false;
    }
    const bool is_step = words.front().text == "srun";
    return !is_step || std::any_of(words.begin() + 1, words.begin() + static_cast<std::ptrdiff_t>(at),
                                   [](const ShellWord& word) {
                                       const std::string name = shell::last_name(word);
                                       return !word.known() || name.starts_with("python") ||
                                              name == "torchrun" || name == "accelerate" ||
                                              name == "deepspeed";
                                   });
}

}  // namespace prismopt
