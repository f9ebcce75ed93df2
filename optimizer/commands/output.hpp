#pragma once

/// Files that a command writes beside what it prints.

#include <string>
#include <vector>

namespace prismopt {

/// Writes `text` to the file that `--option` names. Throws InputError where that is one of the command's inputs, or cannot be written.
void write_output(const std::string& option, const std::string& path, const std::string& text,
                  const std::vector<std::string>& inputs);

}  // namespace prismopt
