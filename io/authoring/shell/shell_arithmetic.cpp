#include "io/authoring/shell/shell_script.hpp"

#include <cctype>
#include <charconv>
#include <limits>
#include <string_view>

namespace prismopt {

namespace {

constexpr int deepest_expression = 50;

/// What is left of an expression, and what it lacks.
struct Expression {
    std::string_view rest;
    const std::map<std::string, ShellValue>& variables;
    std::vector<std::string>& missing;
    int depth = 0;
    bool wrong = false;
};

void skip_blanks(Expression& e)
{
    while (!e.rest.empty() && std::isspace(static_cast<unsigned char>(e.rest.front())) != 0) {
        e.rest.remove_prefix(1);
    }
}

bool consume(Expression& e, std::string_view text)
{
    skip_blanks(e);
    if (!e.rest.starts_with(text)) {
        return false;
    }
    e.rest.remove_prefix(text.size());
    return true;
}

std::optional<long> number_of(std::string_view text)
{
    long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// The word of letters, digits and _ at the beginning.
std::string_view leading_word(std::string_view text)
{
    std::size_t length = 0;
    while (length < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[length])) != 0 || text[length] == '_')) {
        ++length;
    }
    return text.substr(0, length);
}

long sum(Expression& e);

long operand(Expression& e)
{
    if (++e.depth > deepest_expression) {
        e.wrong = true;
    }
    long value = 0;
    if (e.wrong) {
        return value;
    }
    if (consume(e, "(")) {
        value = sum(e);
        e.wrong = e.wrong || !consume(e, ")");
    } else if (consume(e, "-")) {
        const long of = operand(e);
        value = of == std::numeric_limits<long>::min() ? 0 : -of;
    } else {
        consume(e, "$");
        const bool braces = consume(e, "{");
        skip_blanks(e);
        const std::string_view word = leading_word(e.rest);
        e.rest.remove_prefix(word.size());
        e.wrong = e.wrong || word.empty() || (braces && !consume(e, "}"));
        const auto variable = e.variables.find(std::string(word));
        if (const auto number = number_of(word)) {
            value = *number;
        } else if (variable == e.variables.end() || variable->second.size() != 1) {
            e.missing.emplace_back(word);
        } else if (!variable->second.front().known()) {
            e.missing.insert(e.missing.end(), variable->second.front().missing.begin(),
                             variable->second.front().missing.end());
        } else if (const auto own = number_of(variable->second.front().text)) {
            value = *own;
        } else {
            e.missing.emplace_back(word);
        }
    }
    --e.depth;
    return value;
}

long product(Expression& e)
{
    long value = operand(e);
    for (;;) {
        const bool times = consume(e, "*");
        const bool divided = !times && consume(e, "/");
        const bool modulo = !times && !divided && consume(e, "%");
        if (e.wrong || (!times && !divided && !modulo)) {
            return value;
        }
        const long right = operand(e);
        if (times) {
            e.wrong = e.wrong || __builtin_mul_overflow(value, right, &value);
        } else if (right == 0 || right == -1) {
            e.wrong = e.wrong || (right == 0 && e.missing.empty());
            value = right == -1 && divided && value != std::numeric_limits<long>::min() ? -value : 0;
        } else {
            value = divided ? value / right : value % right;
        }
    }
}

long sum(Expression& e)
{
    long value = product(e);
    for (;;) {
        const bool plus = consume(e, "+");
        if (e.wrong || (!plus && !consume(e, "-"))) {
            return value;
        }
        const long right = product(e);
        e.wrong = e.wrong || (plus ? __builtin_add_overflow(value, right, &value)
                                   : __builtin_sub_overflow(value, right, &value));
    }
}

}  // namespace

std::optional<long> shell_arithmetic(const std::string& expression,
                                     const std::map<std::string, ShellValue>& variables,
                                     std::vector<std::string>& missing)
{
    std::vector<std::string> lacks;
    Expression e{expression, variables, lacks};
    const long value = sum(e);
    skip_blanks(e);
    if (e.wrong || !e.rest.empty()) {
        missing.push_back("$((" + expression + "))");
        return std::nullopt;
    }
    missing.insert(missing.end(), lacks.begin(), lacks.end());
    return lacks.empty() ? std::optional(value) : std::nullopt;
}

}  // namespace prismopt
