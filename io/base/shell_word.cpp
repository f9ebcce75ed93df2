#include "io/base/shell_word.hpp"

#include <algorithm>
#include <string_view>

namespace prismopt {

std::string shell_word(const std::string& text)
{
    constexpr std::string_view marks = "_-./+,:@%=";
    const auto plain = [marks](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               marks.find(c) != std::string_view::npos;
    };
    if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) {
        return text;
    }
    std::string word = "'";
    for (const char c : text) {
        word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return word + "'";
}

}  // namespace prismopt
