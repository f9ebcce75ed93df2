#include "io/authoring/shell/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

ShellWord shell_word_of(std::string marked, InputPlace place)
{
    ShellWord word{std::move(marked), "", {}, std::move(place)};
    const std::string_view all = word.marked;
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t length = all[at] == ShellWord::mark ? shell::marked_length(all, at) : 1;
        if (all[at] == ShellWord::mark) {
            word.missing.emplace_back(all.substr(at + 1, length - std::min<std::size_t>(length, 2)));
        } else {
            word.text += all[at];
        }
        at += length;
    }
    return word;
}

namespace shell {

void refuse(const Text& in, int line, const std::string& reason, const std::string& remedy)
{
    throw InputError({in.path, line}, reason, remedy);
}

std::string marked(const std::string& name) { return ShellWord::mark + name + ShellWord::mark; }

std::size_t marked_length(std::string_view text, std::size_t at)
{
    const std::size_t end = text.find(ShellWord::mark, at + 1);
    return (end == std::string_view::npos ? text.size() : end + 1) - at;
}

void skip_nested(Text& in, char open, char close, int depth)
{
    const int line = in.line;
    if (depth > deepest_nesting) {
        refuse(in, line, "quotes or parentheses nest too deeply", "write the value out");
    }
    for (int level = 0; !in.ends();) {
        const char c = in.peek();
        if (c == '\\') {
            in.next();
        } else if (c == '#' && open == '(' && in.at > 0 &&
                   std::isspace(static_cast<unsigned char>(in.all[in.at - 1])) != 0) {
            while (!in.ends() && in.peek() != '\n') {
                in.next();
            }
        } else if (c == '\'' && open != '"') {
            in.next();
            while (!in.ends() && in.peek() != '\'') {
                in.next();
            }
        } else if (c == '"' && open != '"') {
            skip_nested(in, '"', '"', depth + 1);
            continue;
        } else if (c == close && (open != close || level > 0)) {
            in.next();
            if (--level == 0) {
                return;
            }
            continue;
        } else if (c == open) {
            ++level;
        } else if (c == '$' && open == '"' && (in.peek(1) == '(' || in.peek(1) == '{')) {
            in.next();
            skip_nested(in, in.peek(), in.peek() == '(' ? ')' : '}', depth + 1);
            continue;
        }
        if (!in.ends()) {
            in.next();
        }
    }
    refuse(in, line, fmt::format("{} is not closed", open), fmt::format("close it with {}", close));
}

RawWord raw_word(Text& in)
{
    RawWord word{"", in.line};
    const std::size_t begin = in.at;
    while (!in.ends()) {
        const char c = in.peek();
        if (is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' ||
            c == '(' || c == ')') {
            const bool array = c == '(' && in.at > begin && in.all[in.at - 1] == '=';
            if (!array) {
                break;
            }
            skip_nested(in, '(', ')', 0);
        } else if (c == ShellWord::mark) {
            for (std::size_t left = marked_length(in.all, in.at); left > 0; --left) {
                in.next();
            }
        } else if (c == '\\') {
            in.next();
            if (!in.ends()) {
                in.next();
            }
        } else if (c == '\'') {
            const int line = in.line;
            in.next();
            while (!in.ends() && in.peek() != '\'') {
                in.next();
            }
            if (in.ends()) {
                refuse(in, line, "a single quote is not closed", "close it with '");
            }
            in.next();
        } else if (c == '"') {
            skip_nested(in, '"', '"', 0);
        } else if (c == '`') {
            const int line = in.line;
            in.next();
            while (!in.ends() && in.peek() != '`') {
                in.next();
            }
            if (in.ends()) {
                refuse(in, line, "a backquote is not closed", "close it with `");
            }
            in.next();
        } else if (c == '$' && (in.peek(1) == '(' || in.peek(1) == '{')) {
            in.next();
            skip_nested(in, in.peek(), in.peek() == '(' ? ')' : '}', 0);
        } else {
            in.next();
        }
    }
    word.text = std::string(in.all.substr(begin, in.at - begin));
    return word;
}

}  // namespace shell

}  // namespace prismopt
