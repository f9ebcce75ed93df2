#pragma once

/// Files that a scenario names, written into its text.

#include "io/toml/toml.hpp"

#include <string>

namespace prismopt {

/// The text as a TOML string.
std::string toml_string(const std::string& text);

/// The text of a scenario with `content`, in TOML, in place of the value of `key`: the name of a file, or a
/// list of such names, which begins on the line of its key. Lines keep their numbers.
std::string with_content(const std::string& text, const Value& value, const std::string& key,
                         const std::string& content);

}  // namespace prismopt
