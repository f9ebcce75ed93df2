#pragma once

/// Words of names and of lines that programs print.

#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// ASCII letters in lower case; other bytes as they are.
std::string lower_case(std::string_view text);

/// Without spaces, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

/// Parted by white space.
std::vector<std::string> words_of(const std::string& line);

/// Runs of letters, in lower case: "node", "down" of "Node[12] DOWN".
std::vector<std::string> letter_words(std::string_view text);

}  // namespace prismopt
