#pragma once

/// Files that a command writes beside what it prints.

#include <string>
#include <vector>

namespace prismopt {

struct OutputPath {
    std::string option;
    std::string path;
};

/// Throws InputError where two of them are one file, of which only the last would be left.
void refuse_same_outputs(const std::vector<OutputPath>& outputs);

/// Throws InputError where the file that `--option` names is one of the command's inputs.
void refuse_input_as_output(const OutputPath& output, const std::vector<std::string>& inputs);

/// Writes `text` to the file that `--option` names. Throws InputError where that is one of the command's inputs, or cannot be written.
void write_output(const std::string& option, const std::string& path, const std::string& text,
                  const std::vector<std::string>& inputs);

}  // namespace prismopt
