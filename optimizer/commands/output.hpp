#pragma once

/// Files that a command writes.

#include <string>
#include <vector>

namespace prismopt {

struct OutputPath {
    std::string option;
    std::string path;
};

/// Throws InputError if two outputs are the same file.
void refuse_same_outputs(const std::vector<OutputPath>& outputs);

/// Throws InputError if the file that `--option` names is an input of the command.
void refuse_input_as_output(const OutputPath& output, const std::vector<std::string>& inputs);

/// Writes `text` to the file that `--option` names. Throws InputError if that is an input of
/// the command or cannot be written.
void write_output(const std::string& option, const std::string& path, const std::string& text,
                  const std::vector<std::string>& inputs);

}  // namespace prismopt
