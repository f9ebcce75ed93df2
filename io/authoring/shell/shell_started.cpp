#include "io/authoring/shell/shell_started.hpp"

#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

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
    if (!file) {
        r.script.not_started.push_back(last_name(path));
    }
    const bool is_open = file && std::find(r.open.begin(), r.open.end(), file->path) != r.open.end();
    return is_open ? std::nullopt : file;
}

/// What starts scripts by their path, beside shells.
constexpr std::array<std::string_view, 15> starters{"srun",   "mpirun", "mpiexec", "sbatch",    "exec",
                                                    "nohup",  "time",   "env",     "apptainer", "singularity",
                                                    "docker", "podman", "enroot",  "nsys",      "numactl"};

bool names_script(const std::string& word)
{
    constexpr std::array<std::string_view, 4> endings{".sh", ".bash", ".sbatch", ".slurm"};
    const bool script = std::any_of(endings.begin(), endings.end(),
                                    [&word](std::string_view ending) { return word.ends_with(ending); });
    return script && !word.starts_with('-') && word.find_first_of("= \t") == std::string::npos;
}

/// Position of the script that a command starts; nothing: it starts none.
std::optional<std::size_t> started_script(const std::vector<ShellWord>& words)
{
    const bool by_starter =
        std::find(starters.begin(), starters.end(), last_name(words.front())) != starters.end();
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        if (word.ends_with(".py") || word == "-m") {
            return std::nullopt;  // the arguments of a program follow
        }
        const bool of_option = i > 0 && words[i - 1].text.ends_with("log");  // srun --task-prolog FILE
        if (!names_script(word) || of_option) {
            continue;
        }
        std::size_t options = i;
        while (options > 0 && words[options - 1].text.starts_with('-')) {
            --options;
        }
        const bool by_shell = options > 0 && is_shell(words[options - 1].text);
        return i == 0 || by_shell || by_starter ? std::optional(i) : std::nullopt;
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

/// Runs commands as a process with variables of its own.
template <class Run>
void run_process(Reader& r, const Started& started, const Run& run)
{
    const auto variables = r.script.variables;
    for (const auto& [name, value] : started.environment) {
        give(r, name, {value}, {}, started.line);
    }
    run();
    r.script.variables = variables;
}

/// Runs a script as a process, with the words behind it as arguments.
void run_script(Reader& r, const Text& in, const Started& started, std::size_t at, ShellFile file,
                const When& when)
{
    run_process(r, started, [&] {
        const auto first = started.words.begin() + static_cast<std::ptrdiff_t>(at) + 1;
        give_arguments(r, {first, started.words.end()}, started.line);
        run_file(r, in, std::move(file), when);
    });
}

/// What `sbatch` is given.
struct Submission {
    std::string options;  // as a line of "#SBATCH"
    std::string wrapped;  // the text of --wrap, marked
};

Submission submission_of(const std::vector<ShellWord>& words, std::size_t last)
{
    constexpr std::string_view wrap = "--wrap";
    Submission job;
    for (std::size_t i = 1; i < last; ++i) {
        const ShellWord& word = words[i];
        if (word.text == wrap && i + 1 < last) {
            job.wrapped = words[++i].marked;
        } else if (word.text.starts_with("--wrap=")) {
            job.wrapped = word.marked.substr(wrap.size() + 1);
        } else if (word.known() && word.text.find_first_of(" \t\"'") == std::string::npos) {
            job.options += word.text + ' ';
        }
    }
    return job;
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

void source(Reader& r, const Text& in, const ShellWord& path, const When& when)
{
    auto file = file_named(r, path);
    if (file) {
        run_file(r, in, std::move(*file), when);
        return;
    }
    r.script.not_sourced.push_back(last_name(path).empty() ? "a file" : last_name(path));
}

bool start_script(Reader& r, const Text& in, const Started& started, const When& when)
{
    const std::vector<ShellWord>& words = started.words;
    const auto at = started_script(words);
    if (!at) {
        return false;
    }
    auto file = script_named(r, words[*at]);
    if (!file) {
        return false;
    }
    const std::size_t first = r.script.commands.size();
    run_script(r, in, started, *at, std::move(*file), when);
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
    const auto at = started_script(words);
    const Submission job = submission_of(words, at.value_or(words.size()));
    const std::size_t first = r.script.commands.size();
    std::vector<std::string> directives;
    if (at) {
        auto file = script_named(r, words[*at]);
        if (!file) {
            return false;
        }
        directives = sbatch_directives(file->text);
        run_script(r, in, started, *at, std::move(*file), when);
    } else {
        const bool by_input = job.wrapped.empty();
        const std::string& text = by_input ? started.input.marked : job.wrapped;
        directives = sbatch_directives(text);
        const int line = started.line + (by_input ? 1 : 0);  // the here-document follows the command
        run_process(r, started, [&] { run_nested(r, in, {in.path, text}, line, when); });
    }
    if (!job.options.empty()) {
        directives.push_back(job.options);
    }
    if (r.script.commands.size() > first) {
        r.script.directives = std::move(directives);
    }
    return r.script.commands.size() > first;
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
