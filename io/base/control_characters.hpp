#pragma once

/// Control characters in texts of one line: names, notes, descriptions. A line break ends a comment of a
/// script, and an escape sequence (ECMA-48, 5.3) commands a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace prismopt {

/// Position of the first control character of UTF-8 text, but for the ASCII characters in `allowed`; npos if
/// there is none. U+0000 to U+001F, U+007F to U+009F (category Cc of the Unicode Standard, 23.1); separators
/// of lines and paragraphs, U+2028 and U+2029 (5.8); U+202A to U+202E and U+2066 to U+2069, which change the
/// direction of the text that follows (Unicode Standard Annex 9, 2).
std::size_t find_control(std::string_view text, std::string_view allowed = "");

/// Name of the control character at `position`: "U+000A (line break)".
std::string control_name(std::string_view text, std::size_t position);

/// The text with each control character written as \uXXXX, for comments, scripts, and terminals.
std::string escape_controls(std::string_view text, std::string_view allowed = "");

/// The text with a blank for each control character, for excerpts in messages.
std::string blank_controls(std::string_view text);

}  // namespace prismopt
