#pragma once

/// Commands of a shell script with their variables substituted. Nothing is run: assignments, arrays,
/// ${X:-default}, $((arithmetic)), here-documents, conditions on values that the script gives, and scripts
/// that it sources or starts are read; what else reaches a word is named in the word.

#include "io/base/input_error.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// A word of a command. What is missing stands in `marked` between two marks, where its value would be.
struct ShellWord {
    static constexpr char mark = '\x1f';

    std::string marked = {};
    std::string text = {};                  // without what is missing
    std::vector<std::string> missing = {};  // variables without a value, and "$(...)", which is not run
    InputPlace place = {};                  // of the word; of an array's, where the array is filled

    bool known() const { return missing.empty(); }
};
ShellWord shell_word_of(std::string marked, InputPlace place = {});

using ShellValue = std::vector<ShellWord>;  // an array; a plain variable has one word

struct ShellCommand {
    InputPlace place;
    std::vector<ShellWord> words;
    std::map<std::string, ShellWord> environment;  // NAME=value before the command
    // "#SBATCH" lines and options of `sbatch` of the job that runs it; nothing: those of the script
    std::optional<std::vector<std::string>> directives = {};
};

struct ShellScript {
    std::vector<ShellCommand> commands;           // also those of branches that cannot be decided
    std::map<std::string, ShellValue> variables;  // at the end
    std::map<std::string, std::string> files;     // that here-documents write, by their names
    std::vector<std::string> directives;          // "#SBATCH ..." before the first command, without that word
    std::map<std::string, std::string> why;       // of a missing name: what gives it its value
    std::vector<std::string> not_sourced;         // files that `source` names and that are not there
    std::vector<std::string> not_started;         // scripts that commands start and that are not there
    std::vector<std::string> read;                // paths of those that are: their commands are among these
};

struct ShellFile {
    std::string path;
    std::string text;
};

/// What a script is read with. `from` is handed to `read`, and must be valid while the script is read.
struct ShellInputs {
    std::map<std::string, std::string> given;        // values of the user, also of "$(command)": they win
    std::map<std::string, std::string> environment;  // values that the script may change
    // Returns a file that is sourced or started.
    std::optional<ShellFile> (*read)(const std::string& name, const void* from) = nullptr;
    const void* from = nullptr;
    // Returns the variables that Slurm sets in a job, or a step of one, with these directives.
    std::map<std::string, std::string> (*job_variables)(const std::vector<std::string>& directives) = nullptr;
};

/// Throws InputError for text that is no shell script: quotes that do not close,
/// values that grow without limit.
ShellScript read_shell_script(const std::string& text, const std::string& path, const ShellInputs& inputs);

/// Whether the word at `at`, "-m", names a module of Python, and not an option of `srun`.
bool names_module(const std::vector<ShellWord>& words, std::size_t at);

/// The "#SBATCH" lines before the first command.
std::vector<std::string> sbatch_directives(const std::string& text);

/// The value of an arithmetic expression over numbers and variables; nothing: a variable has no
/// number, which `missing` then names.
std::optional<long> shell_arithmetic(const std::string& expression,
                                     const std::map<std::string, ShellValue>& variables,
                                     std::vector<std::string>& missing);

}  // namespace prismopt
