#pragma once

/// Words of a shell script as they are written, and what is missing in their values.
/// Internal to the reader of scripts.

#include "io/authoring/shell/shell_script.hpp"

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt::shell {

constexpr int deepest_nesting = 24;  // of ${X:-${Y:-...}}, sourced files and eval

using Names = std::vector<std::string>;

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
inline bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// A word before its value is known.
struct RawWord {
    std::string text;
    int line = 0;
};

/// A text and a place in it. The characters and the path belong to the caller, and must outlive it.
struct Text {
    std::string_view all;
    const std::string& path;
    std::size_t at = 0;
    int line = 1;

    bool ends() const { return at >= all.size(); }
    char peek(std::size_t ahead = 0) const { return at + ahead < all.size() ? all[at + ahead] : '\0'; }
    void next()
    {
        line += peek() == '\n' ? 1 : 0;
        ++at;
    }
};

[[noreturn]] void refuse(const Text& in, int line, const std::string& reason, const std::string& remedy);

/// What is missing, with its marks, and its length at text[at].
std::string marked(const std::string& name);
std::size_t marked_length(std::string_view text, std::size_t at);

/// Takes text up to the end of a quoted part, a substitution or an expansion that begins at
/// `in.at`, with all that nests in it.
void skip_nested(Text& in, char open, char close, int depth = 0);

/// The characters of one word, as written.
RawWord raw_word(Text& in);

}  // namespace prismopt::shell
