#include "io/authoring/shell/shell_conditions.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace prismopt::shell {

namespace {

/// Of two conditions: `either` if one of them is that, else its opposite if both are known.
std::optional<bool> either_or_both(std::optional<bool> first, bool either, std::optional<bool> second)
{
    if (first == either || second == either) {
        return either;
    }
    return first && second ? std::optional(!either) : std::nullopt;
}

Status either_or_both(const Status& first, bool either, const Status& second)
{
    Status joined = second;
    joined.missing.insert(joined.missing.end(), first.missing.begin(), first.missing.end());
    joined.holds = either_or_both(first.holds, either, second.holds);
    return joined;
}

/// Whether a file that a test names is there. That it is not there decides
/// nothing: the job may run elsewhere.
std::optional<bool> is_there(const Reader& r, const std::string& file)
{
    return r.inputs.read != nullptr && !file.empty() && r.inputs.read(file, r.inputs.from)
               ? std::optional(true)
               : std::nullopt;
}

struct Comparison {
    std::string_view op;
    bool (*holds)(long a, long b);
};
constexpr std::array comparisons{
    Comparison{"-eq", [](long a, long b) { return a == b; }},
    Comparison{"-ne", [](long a, long b) { return a != b; }},
    Comparison{"-gt", [](long a, long b) { return a > b; }},
    Comparison{"-ge", [](long a, long b) { return a >= b; }},
    Comparison{"-lt", [](long a, long b) { return a < b; }},
    Comparison{"-le", [](long a, long b) { return a <= b; }},
};

std::optional<bool> compared(std::string_view op, long a, long b)
{
    for (const Comparison& comparison : comparisons) {
        if (comparison.op == op) {
            return comparison.holds(a, b);
        }
    }
    return std::nullopt;
}

/// What -z X, -n X or -f X says.
std::optional<bool> unary_test(const Reader& r, std::string_view op, const std::string& operand)
{
    if (op == "-z" || op == "-n") {
        return operand.empty() == (op == "-z");
    }
    const bool of_file = op == "-f" || op == "-e" || op == "-r" || op == "-s";
    return of_file ? is_there(r, operand) : std::nullopt;
}

/// What stands between the brackets of a test: X, -z X, -n X, -f X, A = B, A -gt B. [[ ]] has `patterns`.
std::optional<bool> decided(const Reader& r, const std::vector<std::string>& w, bool patterns)
{
    if (w.size() <= 1) {
        return !w.empty() && !w.front().empty();
    }
    if (w.size() == 2) {
        return unary_test(r, w[0], w[1]);
    }
    if (w.size() != 3) {
        return std::nullopt;
    }
    if (w[1] == "=" || w[1] == "==" || w[1] == "!=") {
        const bool pattern = patterns && w[2].find_first_of("*?[") != std::string::npos;
        return pattern ? std::nullopt : std::optional((w[0] == w[2]) == (w[1] != "!="));
    }
    Names missing;
    const auto a = shell_arithmetic(w[0], {}, missing);
    const auto b = shell_arithmetic(w[2], {}, missing);
    return a && b ? compared(w[1], *a, *b) : std::nullopt;
}

using WordIterator = std::vector<std::string>::const_iterator;

/// A test without && and ||.
Status single_test(const Reader& r, WordIterator begin, WordIterator end, bool patterns)
{
    const bool negated = begin != end && *begin == "!" && std::next(begin) != end;
    const Status status{decided(r, {negated ? std::next(begin) : begin, end}, patterns), {}};
    return negated ? negated_status(status) : status;
}

/// Tests joined by && inside [[ ]], which bind closer than ||.
Status all_tests(const Reader& r, WordIterator begin, WordIterator end)
{
    Status status{true, {}};
    for (;;) {
        const auto next = std::find(begin, end, "&&");
        status = either_or_both(status, false, single_test(r, begin, next, true));
        if (next == end) {
            return status;
        }
        begin = std::next(next);
    }
}

Status any_tests(const Reader& r, WordIterator begin, WordIterator end)
{
    Status status{false, {}};
    for (;;) {
        const auto next = std::find(begin, end, "||");
        status = either_or_both(status, true, all_tests(r, begin, next));
        if (next == end) {
            return status;
        }
        begin = std::next(next);
    }
}

/// Of a test: [ ... ], [[ ... ]], test ...
Status test_status(const Reader& r, const std::vector<ShellWord>& words)
{
    Status status;
    std::vector<std::string> w;
    for (const ShellWord& word : words) {
        w.push_back(word.text);
        status.missing.insert(status.missing.end(), word.missing.begin(), word.missing.end());
    }
    const bool patterns = w.front() == "[[";
    if (w.back() == "]" || w.back() == "]]") {
        w.pop_back();
    }
    const bool grouped = patterns && std::find_if(w.begin(), w.end(), [](const std::string& word) {
                                         return word == "(" || word == ")";
                                     }) != w.end();
    if (!status.missing.empty() || grouped || w.empty()) {
        return status;
    }
    return patterns ? any_tests(r, w.begin() + 1, w.end()) : single_test(r, w.begin() + 1, w.end(), false);
}

/// Commands that a job relies on, so that what stands behind && runs and what stands behind || does not.
constexpr std::array<std::string_view, 19> succeeding{"true",  ":",      "cd",     "pushd",  "popd",
                                                      "mkdir", "echo",   "printf", "set",    "shopt",
                                                      "unset", "source", ".",      "module", "ulimit",
                                                      "sleep", "date",   "umask",  "trap"};

}  // namespace

Status joined_status(const Status& first, const std::string& op, const Status& second)
{
    return op == "&&" || op == "||" ? either_or_both(first, op == "||", second) : second;
}

Status negated_status(const Status& status)
{
    return {status.holds ? std::optional(!*status.holds) : std::nullopt, status.missing};
}

When when_joined(const Status& before, const std::string& op)
{
    if (op != "&&" && op != "||") {
        return {};
    }
    if (before.holds) {
        return {*before.holds == (op == "&&") ? Runs::yes : Runs::no, {}};
    }
    return {Runs::maybe, before.missing};
}

Status status_of(const Reader& r, const std::vector<ShellWord>& words)
{
    if (words.empty()) {
        return {};
    }
    const std::string& name = words.front().text;
    if (name == "[" || name == "[[" || name == "test") {
        return test_status(r, words);
    }
    if (name == "false") {
        return {false, {}};
    }
    const bool succeeds = std::find(succeeding.begin(), succeeding.end(), name) != succeeding.end();
    return succeeds ? Status{true, {}} : Status{};
}

}  // namespace prismopt::shell
