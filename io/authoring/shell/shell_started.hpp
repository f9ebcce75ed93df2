#pragma once

/// Scripts that a script sources, starts or submits. Internal to the reader of scripts.

#include "io/authoring/shell/shell_values.hpp"

#include <map>
#include <string_view>
#include <vector>

namespace prismopt::shell {

/// Reads the commands of a text whose first line has this number.
void run_text(Reader& r, std::string_view text, const std::string& path, int line, const When& outer);

/// A command that may start a script. It refers to what the caller owns.
struct Started {
    const std::vector<ShellWord>& words;
    const std::map<std::string, ShellWord>& environment;
    const ShellWord& input;  // of its here-document; empty: none
    int line = 0;
};

bool is_shell(std::string_view word);

/// Reads the file that `source` names, with arguments of its own if there are some, or records that it is not
/// there.
void source(Reader& r, const Text& in, const std::vector<ShellWord>& words, int line, const When& when);

/// Reads the script that a command starts: a process with variables of its own. What starts the command
/// stands before the script's commands. Returns whether there are some.
bool start_script(Reader& r, const Text& in, const Started& started, const When& when);

/// Reads the job that `sbatch` submits: a script, the text of --wrap, or a here-document. The directives are
/// those of that text and the options of `sbatch`, which win. Returns whether there are commands.
bool submit_job(Reader& r, const Text& in, const Started& started, const When& when);

/// Drops the first arguments, as far as they are known.
void shift_arguments(Reader& r, const std::vector<ShellWord>& words, int line, const When& when);
/// Options of the shell: set -a, and set -- ARGUMENT...
void set_options(Reader& r, const std::vector<ShellWord>& words, int line, const When& when);

}  // namespace prismopt::shell
