#include "io/toml/key_nesting.hpp"

#include <algorithm>
#include <vector>

namespace prismopt {

namespace {

/// The end of the string that begins here, behind its closing quotes; strings of one line end with the line
/// at the latest. TOML 1.0: basic strings have escapes, literal ones have none; three quotes begin strings of
/// several lines, which may end with up to two more.
std::size_t end_of_string(std::string_view text, std::size_t begin)
{
    const char quote = text[begin];
    const bool several_lines = text.substr(begin, 3) == std::string_view(quote == '"' ? "\"\"\"" : "'''");
    std::size_t i = begin + (several_lines ? 3 : 1);
    for (; i < text.size(); ++i) {
        if (text[i] == '\\' && quote == '"') {
            ++i;
        } else if (text[i] == quote && !several_lines) {
            return i + 1;
        } else if (text[i] == quote && text.substr(i, 3) == text.substr(begin, 3)) {
            i += 3;
            for (int more = 0; more < 2 && i < text.size() && text[i] == quote; ++more) {
                ++i;
            }
            return i;
        } else if (text[i] == '\n' && !several_lines) {
            return i;
        }
    }
    return std::min(i, text.size());
}

}  // namespace

KeyNesting deepest_key(std::string_view text)
{
    KeyNesting deepest;
    std::vector<int> open;  // levels at each open bracket
    int segments = 0;       // dots of the key, or of the value, since the last separator
    int line = 1;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            const std::size_t end = end_of_string(text, i);
            line += static_cast<int>(std::count(text.data() + i, text.data() + end, '\n'));
            i = end - 1;
        } else if (c == '#') {
            i = std::min(text.find('\n', i), text.size()) - 1;
        } else if (c == '\n' || c == ',') {
            segments = 0;
            line += c == '\n' ? 1 : 0;
        } else if (c == '.') {
            ++segments;
        } else if (c == '[' || c == '{') {
            open.push_back((open.empty() ? 0 : open.back()) + segments + 1);
            segments = 0;
        } else if ((c == ']' || c == '}') && !open.empty()) {
            open.pop_back();
            segments = 0;
        }
        const int levels = (open.empty() ? 0 : open.back()) + segments;
        if (levels > deepest.levels) {
            deepest = {levels, line};
        } else if (deepest.levels > most_levels) {
            return deepest;
        }
    }
    return deepest;
}

}  // namespace prismopt
