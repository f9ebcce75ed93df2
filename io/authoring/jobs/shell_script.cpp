#include "io/authoring/jobs/shell_script.hpp"

#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace prismopt {

namespace {

constexpr std::size_t longest_script = 4'000'000;  // characters, sourced files and expansions included
constexpr int deepest_nesting = 24;                // of ${X:-${Y:-...}}, sourced files and eval

using Names = std::vector<std::string>;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether commands of a branch run.
enum class Runs { yes, no, maybe };

struct Branch {
    Runs runs = Runs::maybe;
    bool decided = true;  // so far, each condition
    bool taken = false;   // an earlier branch of the same `if`
};

/// A word before its value is known.
struct RawWord {
    std::string text;
    int line = 0;
};

struct Reader {
    const ShellInputs& inputs;
    ShellScript script;
    std::size_t expanded = 0;
    int depth = 0;
};

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

[[noreturn]] void refuse(const Text& in, int line, const std::string& reason, const std::string& remedy)
{
    throw InputError({in.path, line}, reason, remedy);
}

void grow(Reader& r, const Text& in, std::size_t by)
{
    r.expanded += by;
    if (r.expanded > longest_script) {
        refuse(in, in.line, fmt::format("values of the script grow beyond {} characters", longest_script),
               "give the arguments of the trainer in a file of their own");
    }
}

/// Takes text up to the end of a quoted part, a substitution or an expansion that begins at `in.at`, with all that nests in it.
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
        } else if (c == '#' && open == '(' && in.at > 0 && std::isspace(static_cast<unsigned char>(in.all[in.at - 1])) != 0) {
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

/// The characters of one word, as written.
RawWord raw_word(Text& in)
{
    RawWord word{"", in.line};
    const std::size_t begin = in.at;
    while (!in.ends()) {
        const char c = in.peek();
        if (is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' || c == '(' || c == ')') {
            const bool array = c == '(' && in.at > begin && in.all[in.at - 1] == '=';
            if (!array) {
                break;
            }
            skip_nested(in, '(', ')', 0);
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

/// Words that an expansion makes: a blank outside quotes ends one.
class Fields {
public:
    void text(std::string_view part)
    {
        open_ = true;
        last_.text += part;
    }
    void missing(const Names& names)
    {
        open_ = true;
        last_.missing.insert(last_.missing.end(), names.begin(), names.end());
    }
    void quoted() { open_ = true; }
    void end()
    {
        if (open_) {
            done_.push_back(std::move(last_));
        }
        last_ = {};
        open_ = false;
    }
    /// A value outside quotes: its blanks end words.
    void split(const ShellWord& value)
    {
        for (const char c : value.text) {
            if (is_blank(c) || c == '\n') {
                end();
            } else {
                text(std::string_view(&c, 1));
            }
        }
        if (!value.known()) {
            missing(value.missing);
        }
    }
    std::vector<ShellWord> words()
    {
        end();
        return std::move(done_);
    }

private:
    std::vector<ShellWord> done_;
    ShellWord last_;
    bool open_ = false;
};

std::vector<ShellWord> expand(Reader& r, const Text& in, std::string_view raw, bool splits);

/// One word: what an assignment gives.
ShellWord expand_whole(Reader& r, const Text& in, std::string_view raw)
{
    const std::vector<ShellWord> words = expand(r, in, raw, false);
    return words.empty() ? ShellWord{} : words.front();
}

/// The value of a variable; nothing: it has none.
const ShellValue* value_of(const Reader& r, const std::string& name)
{
    const auto found = r.script.variables.find(name);
    return found == r.script.variables.end() ? nullptr : &found->second;
}

void add_value(Fields& fields, const ShellWord& value, bool quoted)
{
    if (quoted) {
        fields.text(value.text);
        if (!value.known()) {
            fields.missing(value.missing);
        }
    } else {
        fields.split(value);
    }
}

void add_array(Fields& fields, const ShellValue& value, bool quoted)
{
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) {
            fields.end();
        }
        add_value(fields, value[i], quoted);
    }
}

/// ${...}
void add_expansion(Reader& r, const Text& in, std::string_view inner, bool quoted, Fields& fields)
{
    std::size_t length = 0;
    while (length < inner.size() && in_name(inner[length])) {
        ++length;
    }
    const std::string name(inner.substr(0, length));
    std::string_view rest = inner.substr(length);
    const ShellValue* value = value_of(r, name);
    if (name.empty()) {
        if (!inner.starts_with('@') && !inner.starts_with('*')) {  // further arguments of the script: none
            fields.missing({fmt::format("${{{}}}", printable(std::string(inner)))});
        }
        return;
    }
    if (rest.starts_with("[@]") || rest.starts_with("[*]")) {
        if (rest.size() > 3) {
            fields.missing({fmt::format("${{{}}}", printable(std::string(inner)))});
        } else if (value == nullptr) {
            fields.missing({name});
        } else {
            add_array(fields, *value, quoted);
        }
        return;
    }
    const bool colon = rest.starts_with(":");
    const char form = rest.size() > (colon ? 1U : 0U) ? rest[colon ? 1 : 0] : '\0';
    const bool empty =
        value != nullptr && (value->empty() || (value->size() == 1 && value->front().known() && value->front().text.empty()));
    const bool set = value != nullptr && !(colon && empty);
    if (rest.empty()) {
        if (value == nullptr) {
            fields.missing({name});
        } else if (!value->empty()) {
            add_value(fields, value->front(), quoted);
        }
        return;
    }
    const std::string_view other = rest.substr(std::min(rest.size(), colon ? std::size_t{2} : std::size_t{1}));
    if (form == '-' || form == '=') {
        if (set) {
            add_value(fields, value->empty() ? ShellWord{} : value->front(), quoted);
        } else {
            const ShellWord usual = expand_whole(r, in, other);
            add_value(fields, usual, quoted);
            if (form == '=') {
                r.script.variables[name] = {usual};
            }
        }
    } else if (form == '+') {
        if (set) {
            add_value(fields, expand_whole(r, in, other), quoted);
        }
    } else if (form == '?') {
        if (set) {
            add_value(fields, value->empty() ? ShellWord{} : value->front(), quoted);
        } else {
            fields.missing({name});
        }
    } else {
        fields.missing({fmt::format("${{{}}}", printable(std::string(inner)))});  // patterns
    }
}

/// $(...) and `...`: a value that the user gives, or missing.
void add_substitution(const Reader& r, const std::string& text, Fields& fields, bool quoted)
{
    const auto given = r.inputs.given.find(text);
    if (given != r.inputs.given.end()) {
        add_value(fields, {given->second, {}}, quoted);
    } else {
        fields.missing({text});
    }
}

/// What stands behind $ at raw[at]; moves `at` behind it.
void add_dollar(Reader& r, const Text& in, std::string_view raw, std::size_t& at, bool quoted, Fields& fields)
{
    const auto nested = [&](char open, char close) {
        Text inner{raw, in.path};
        inner.at = at;
        inner.line = in.line;
        skip_nested(inner, open, close, 0);
        const std::string_view text = raw.substr(at + 1, inner.at - at - 2);
        at = inner.at;
        return text;
    };
    ++at;
    const char c = at < raw.size() ? raw[at] : '\0';
    if (c == '{') {
        add_expansion(r, in, nested('{', '}'), quoted, fields);
    } else if (c == '(') {
        const std::string_view inner = nested('(', ')');
        if (inner.starts_with('(') && inner.ends_with(')') && inner.size() >= 2) {
            Names missing;
            const ShellWord expression = expand_whole(r, in, fmt::format("\"{}\"", inner.substr(1, inner.size() - 2)));
            missing = expression.missing;
            const auto number = missing.empty() ? shell_arithmetic(expression.text, r.script.variables, missing) : std::nullopt;
            if (number) {
                fields.text(std::to_string(*number));
            } else {
                fields.missing(missing);
            }
        } else {
            add_substitution(r, fmt::format("$({})", inner), fields, quoted);
        }
    } else if (begins_name(c)) {
        std::size_t end = at;
        while (end < raw.size() && in_name(raw[end])) {
            ++end;
        }
        const std::string name(raw.substr(at, end - at));
        at = end;
        add_expansion(r, in, name, quoted, fields);
    } else if (c != '\0' && std::string_view("0123456789@*#?$!-").find(c) != std::string_view::npos) {
        ++at;
        const std::string name(1, c);
        if (const ShellValue* value = value_of(r, name)) {
            add_array(fields, *value, quoted);
        } else if (c == '@' || c == '*') {
            return;  // further arguments of the script: none
        } else {
            fields.missing({name});
        }
    } else {
        fields.text("$");
    }
}

std::vector<ShellWord> expand(Reader& r, const Text& in, std::string_view raw, bool splits)
{
    if (++r.depth > deepest_nesting) {
        refuse(in, in.line, "values nest too deeply", "write the value out");
    }
    Fields fields;
    bool quoted = false;
    for (std::size_t at = 0; at < raw.size();) {
        const char c = raw[at];
        if (c == '\'' && !quoted) {
            const std::size_t end = std::min(raw.find('\'', at + 1), raw.size());
            fields.quoted();
            fields.text(raw.substr(at + 1, end - at - 1));
            at = end + 1;
        } else if (c == '"') {
            quoted = !quoted;
            fields.quoted();
            ++at;
        } else if (c == '\\' && at + 1 < raw.size()) {
            const char escaped = raw[at + 1];
            const bool kept = quoted && std::string_view("$`\"\\\n").find(escaped) == std::string_view::npos;
            if (escaped != '\n') {
                fields.text(kept ? raw.substr(at, 2) : raw.substr(at + 1, 1));
            }
            at += 2;
        } else if (c == '$') {
            add_dollar(r, in, raw, at, quoted || !splits, fields);
        } else if (c == '`') {
            const std::size_t end = std::min(raw.find('`', at + 1), raw.size());
            add_substitution(r, fmt::format("$({})", raw.substr(at + 1, end - at - 1)), fields, quoted || !splits);
            at = end + 1;
        } else {
            fields.text(raw.substr(at, 1));
            ++at;
        }
    }
    --r.depth;
    std::vector<ShellWord> words = fields.words();
    for (const ShellWord& word : words) {
        grow(r, in, word.text.size());
    }
    if (!splits && words.size() > 1) {  // "$@" or an array in an assignment
        for (std::size_t i = 1; i < words.size(); ++i) {
            words.front().text += ' ' + words[i].text;
            words.front().missing.insert(words.front().missing.end(), words[i].missing.begin(), words[i].missing.end());
        }
        words.resize(1);
    }
    return words;
}

/// Blanks, comments and continued lines inside the parentheses of an array; its words.
std::vector<ShellWord> array_words(Reader& r, const Text& in, std::string_view inside, int line)
{
    Text text{inside, in.path, 0, line};
    std::vector<ShellWord> words;
    while (!text.ends()) {
        const char c = text.peek();
        if (is_blank(c) || c == '\n') {
            text.next();
        } else if (c == '\\' && (text.peek(1) == '\n' || text.peek(1) == '\r')) {
            text.next();
            text.next();
        } else if (c == '#') {
            while (!text.ends() && text.peek() != '\n') {
                text.next();
            }
        } else {
            const RawWord word = raw_word(text);
            if (word.text.empty()) {
                text.next();  // an operator
                continue;
            }
            for (ShellWord& own : expand(r, text, word.text, true)) {
                words.push_back(std::move(own));
            }
        }
    }
    return words;
}

/// Length of NAME in NAME=, NAME+= or NAME[i]=; 0: it is no assignment.
std::size_t assigned_name(std::string_view word)
{
    std::size_t length = 0;
    while (length < word.size() && in_name(word[length])) {
        ++length;
    }
    const std::string_view rest = word.substr(length);
    return length > 0 && begins_name(word[0]) && (rest.starts_with('=') || rest.starts_with("+=")) ? length : 0;
}

void assign(Reader& r, const Text& in, const RawWord& word, std::size_t length, Runs runs)
{
    const std::string name = word.text.substr(0, length);
    if (r.inputs.given.contains(name) || runs == Runs::no) {
        return;
    }
    const bool adds = word.text[length] == '+';
    const std::string_view value = std::string_view(word.text).substr(length + (adds ? 2 : 1));
    const bool array = value.starts_with('(');
    ShellValue own =
        array ? array_words(r, in, value.substr(1, value.size() - 2), word.line) : ShellValue{expand_whole(r, in, value)};
    ShellValue& variable = r.script.variables[name];
    const bool first = variable.empty();
    if (runs == Runs::maybe && !own.empty()) {
        const bool same = !first && !adds && variable.size() == own.size() &&
                          std::equal(own.begin(), own.end(), variable.begin(), [](const ShellWord& a, const ShellWord& b) {
                              return a.text == b.text && a.known() && b.known();
                          });
        if (!same) {
            r.script.why[name] = fmt::format("depends on a condition in line {}", word.line);
            variable = {{"", {name}}};
        }
        return;
    }
    if (!adds || first) {
        variable = std::move(own);
    } else if (array) {
        variable.insert(variable.end(), own.begin(), own.end());
    } else {
        variable.front().text += own.front().text;
        variable.front().missing.insert(variable.front().missing.end(), own.front().missing.begin(), own.front().missing.end());
    }
    const bool unknown = !array && variable.size() == 1 && !variable.front().known();
    if (unknown &&
        std::find(variable.front().missing.begin(), variable.front().missing.end(), name) == variable.front().missing.end()) {
        const std::string& first_missing = variable.front().missing.front();
        if (first_missing.starts_with('$')) {  // no name by which the user could give it, but that of the variable
            r.script.why[name] = fmt::format("is {} in line {}, which is not run", printable(first_missing), word.line);
            variable.front().missing = {name};
            variable.front().text.clear();
        }
    }
}

enum class Decision { holds, fails, unknown };

Decision decision_of(bool holds) { return holds ? Decision::holds : Decision::fails; }

/// What stands between the brackets of a test: -z X, -n X, A = B, A -gt B.
Decision decided(const std::vector<std::string>& w)
{
    if (w.size() == 2 && (w[0] == "-z" || w[0] == "-n")) {
        return decision_of(w[1].empty() == (w[0] == "-z"));
    }
    if (w.size() == 3 && (w[1] == "=" || w[1] == "==" || w[1] == "!=")) {
        return decision_of((w[0] == w[2]) == (w[1] != "!="));
    }
    if (w.size() != 3) {
        return Decision::unknown;
    }
    Names missing;
    const auto a = shell_arithmetic(w[0], {}, missing);
    const auto b = shell_arithmetic(w[2], {}, missing);
    if (!a || !b) {
        return Decision::unknown;
    }
    return w[1] == "-eq"   ? decision_of(*a == *b)
           : w[1] == "-ne" ? decision_of(*a != *b)
           : w[1] == "-gt" ? decision_of(*a > *b)
           : w[1] == "-ge" ? decision_of(*a >= *b)
           : w[1] == "-lt" ? decision_of(*a < *b)
           : w[1] == "-le" ? decision_of(*a <= *b)
                           : Decision::unknown;
}

/// Whether a test holds; nothing: it cannot be decided.
std::optional<bool> test_result(const std::vector<ShellWord>& words)
{
    if (std::any_of(words.begin(), words.end(), [](const ShellWord& word) { return !word.known(); })) {
        return std::nullopt;
    }
    std::vector<std::string> w;
    for (const ShellWord& word : words) {
        w.push_back(word.text);
    }
    const std::array<std::string_view, 3> heads{"[", "[[", "test"};
    if (w.empty() || std::find(heads.begin(), heads.end(), w.front()) == heads.end()) {
        return std::nullopt;
    }
    if (w.back() == "]" || w.back() == "]]") {
        w.pop_back();
    }
    w.erase(w.begin());
    const bool negated = !w.empty() && w.front() == "!";
    if (negated) {
        w.erase(w.begin());
    }
    const Decision decision = decided(w);
    if (decision == Decision::unknown) {
        return std::nullopt;
    }
    return (decision == Decision::holds) != negated;
}

struct HereDocument {
    std::string end;
    bool literal = false;
    bool tabs = false;
};

/// Takes <<END, >file, 2>&1 and the like; the target of the redirection.
std::string take_redirection(Reader& r, Text& in, std::vector<HereDocument>& documents)
{
    if (in.peek() == '<' && in.peek(1) == '<' && in.peek(2) != '<') {
        in.next();
        in.next();
        const bool tabs = in.peek() == '-';
        if (tabs) {
            in.next();
        }
        while (is_blank(in.peek())) {
            in.next();
        }
        const RawWord word = raw_word(in);
        std::string end = word.text;
        std::erase_if(end, [](char c) { return c == '\'' || c == '"' || c == '\\'; });
        documents.push_back({end, end != word.text, tabs});
        return "";
    }
    while (in.peek() == '<' || in.peek() == '>' || in.peek() == '&' || in.peek() == '|') {
        in.next();
    }
    while (is_blank(in.peek())) {
        in.next();
    }
    const RawWord target = raw_word(in);
    return expand_whole(r, in, target.text).text;
}

std::string document_body(Text& in, const HereDocument& document)
{
    std::string body;
    const int begin = in.line;
    while (!in.ends()) {
        std::string line;
        while (!in.ends() && in.peek() != '\n') {
            line += in.peek();
            in.next();
        }
        if (!in.ends()) {
            in.next();
        }
        std::string_view plain = line;
        while (document.tabs && plain.starts_with('\t')) {
            plain.remove_prefix(1);
        }
        if (plain == document.end) {
            return body;
        }
        body += line + '\n';
    }
    refuse(in, begin, fmt::format("the here-document up to {} does not end", printable(document.end)),
           fmt::format("add a line {}", printable(document.end)));
}

/// One command as it is read.
struct Simple {
    std::vector<RawWord> words;
    std::vector<HereDocument> documents;
    std::string output;  // file that it writes
    int line = 0;
};

void run_text(Reader& r, std::string_view text, const std::string& path, int line);

Runs runs_now(const std::vector<Branch>& branches)
{
    Runs runs = Runs::yes;
    for (const Branch& branch : branches) {
        runs = branch.runs == Runs::no || runs == Runs::no ? Runs::no : branch.runs == Runs::maybe ? Runs::maybe : runs;
    }
    return runs;
}

void source(Reader& r, const Text& in, const ShellWord& file)
{
    const std::size_t slash = file.text.find_last_of('/');
    const std::string name = file.text.substr(slash == std::string::npos ? 0 : slash + 1);
    const auto text =
        r.inputs.read == nullptr || name.empty() ? std::nullopt : r.inputs.read(file.known() ? file.text : name, r.inputs.from);
    if (!text) {
        r.script.not_sourced.push_back(name.empty() ? "a file" : name);
        return;
    }
    if (++r.depth > deepest_nesting) {
        refuse(in, in.line, fmt::format("{} is sourced again and again", printable(name)), "remove the circle");
    }
    grow(r, in, text->size());
    run_text(r, *text, name, 1);
    --r.depth;
}

/// `words`: expanded.
void run_command(Reader& r, const Text& in, std::vector<ShellWord> words, std::map<std::string, ShellWord> environment, int line,
                 Runs runs)
{
    if (words.empty() || runs == Runs::no) {
        return;
    }
    const std::string& name = words.front().text;
    if ((name == "source" || name == ".") && words.size() > 1) {
        source(r, in, words[1]);
        return;
    }
    if (name == "unset") {
        for (const ShellWord& word : words) {
            r.script.variables.erase(word.text);
        }
        return;
    }
    if (name == "eval" || (words.size() >= 3 && (name == "bash" || name == "sh") && words[1].text.ends_with("c") &&
                           words[1].text.starts_with("-"))) {
        std::string text;
        bool known = true;
        for (std::size_t i = name == "eval" ? 1 : 2; i < words.size(); ++i) {
            text += (text.empty() ? "" : " ") + words[i].text;
            known = known && words[i].known();
        }
        if (known && ++r.depth <= deepest_nesting) {
            grow(r, in, text.size());
            run_text(r, text, in.path, line);
            --r.depth;
            return;
        }
    }
    r.script.commands.push_back({{in.path, line}, std::move(words), std::move(environment)});
}

constexpr std::array<std::string_view, 6> declaring{"export", "declare", "local", "readonly", "typeset", "let"};

/// Runs a simple command; returns its status, if that can be decided.
std::optional<bool> run_simple(Reader& r, Text& in, const Simple& command, Runs runs)
{
    std::size_t first = 0;
    std::vector<std::size_t> assignments;
    while (first < command.words.size() && assigned_name(command.words[first].text) > 0) {
        assignments.push_back(first++);
    }
    const bool declares = first < command.words.size() &&
                          std::find(declaring.begin(), declaring.end(), command.words[first].text) != declaring.end();
    if (first == command.words.size() || declares) {
        for (const RawWord& word : command.words) {
            if (const std::size_t length = assigned_name(word.text); length > 0) {
                assign(r, in, word, length, runs);
            }
        }
        return std::nullopt;
    }
    std::map<std::string, ShellWord> environment;
    for (const std::size_t i : assignments) {
        const std::string& word = command.words[i].text;
        const std::size_t length = assigned_name(word);
        environment[word.substr(0, length)] = expand_whole(r, in, std::string_view(word).substr(length + 1));
    }
    std::vector<ShellWord> words;
    for (std::size_t i = first; i < command.words.size(); ++i) {
        for (ShellWord& word : expand(r, in, command.words[i].text, true)) {
            words.push_back(std::move(word));
        }
    }
    const std::optional<bool> status = test_result(words);
    const bool takes = !words.empty() && words.front().text == "read" && !command.documents.empty();
    for (const HereDocument& document : command.documents) {
        const std::string body = document_body(in, document);
        std::string escaped;
        for (const char c : body) {
            escaped += c == '"' ? "\\\"" : std::string(1, c);
        }
        const ShellWord text = document.literal ? ShellWord{body, {}} : expand_whole(r, in, fmt::format("\"{}\"", escaped));
        if (takes && runs != Runs::no) {
            r.script.variables[words.back().text] = {text};
        } else if (!command.output.empty()) {
            r.script.files[command.output] = text.text;
        }
    }
    run_command(r, in, std::move(words), std::move(environment), command.line, runs);
    return status;
}

/// Reads one simple command up to its end: a line, ; & | or a parenthesis. Returns the operator that ends it.
std::string read_simple(Reader& r, Text& in, Simple& command)
{
    bool in_test = false;
    command.line = in.line;
    while (!in.ends()) {
        const char c = in.peek();
        if (is_blank(c)) {
            in.next();
        } else if (c == '\\' && (in.peek(1) == '\n' || (in.peek(1) == '\r' && in.peek(2) == '\n'))) {
            in.next();
            while (in.peek() != '\n') {
                in.next();
            }
            in.next();
        } else if (c == '#') {
            while (!in.ends() && in.peek() != '\n') {
                in.next();
            }
        } else if (c == '\n' && !in_test) {
            return "\n";
        } else if (in_test && (c == '&' || c == '|' || c == '<' || c == '>' || c == '(' || c == ')' || c == '\n')) {
            command.words.push_back({std::string(1, c == '\n' ? ' ' : c), in.line});
            in.next();
        } else if (c == '<' || c == '>' || (c == '&' && in.peek(1) == '>')) {
            const bool writes = c == '>';
            const std::string target = take_redirection(r, in, command.documents);
            command.output = writes && !target.empty() ? target : command.output;
        } else if (c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
            std::string op(1, c);
            in.next();
            if (in.peek() == c) {
                op += c;
                in.next();
            }
            return op;
        } else {
            command.line = command.words.empty() ? in.line : command.line;
            RawWord word = raw_word(in);
            const bool digit = word.text.size() == 1 && std::isdigit(static_cast<unsigned char>(word.text[0])) != 0;
            if (digit && (in.peek() == '>' || in.peek() == '<')) {
                continue;  // 2>&1
            }
            in_test = word.text == "[[" || (in_test && word.text != "]]");
            command.words.push_back(std::move(word));
        }
    }
    return "";
}

constexpr std::array<std::string_view, 4> openers{"for", "while", "until", "case"};
constexpr std::array<std::string_view, 3> closers{"done", "esac", "}"};

/// Handles a reserved word at the beginning of a command. Returns whether it was one; what follows it is a command of its own.
bool take_reserved(const std::string& word, std::vector<Branch>& branches, std::optional<bool> status, bool& condition)
{
    if (word == "if") {
        branches.push_back({});
        branches.back().runs = Runs::yes;  // of the condition itself
        condition = true;
        return true;
    }
    if (word == "then" && !branches.empty()) {
        Branch& branch = branches.back();
        branch.decided = branch.decided && status.has_value();
        branch.runs = !branch.decided ? Runs::maybe : *status && !branch.taken ? Runs::yes : Runs::no;
        branch.taken = branch.taken || branch.runs == Runs::yes;
        condition = false;
        return true;
    }
    if ((word == "elif" || word == "else") && !branches.empty()) {
        Branch& branch = branches.back();
        branch.runs = branch.taken ? Runs::no : branch.decided ? Runs::yes : Runs::maybe;
        condition = word == "elif";
        return true;
    }
    if (word == "fi" || std::find(closers.begin(), closers.end(), word) != closers.end()) {
        if (!branches.empty()) {
            branches.pop_back();
        }
        return true;
    }
    if (std::find(openers.begin(), openers.end(), word) != openers.end() || word == "{") {
        branches.push_back({word == "{" ? Runs::yes : Runs::maybe});
        return word == "{";
    }
    return word == "do" || word == "!" || word == "time" || word == "in";
}

void run_text(Reader& r, std::string_view text, const std::string& path, int line)
{
    Text in{text, path, 0, line};
    std::vector<Branch> branches;
    std::optional<bool> status;
    bool condition = false;
    bool combined = false;  // of several commands by && or ||
    bool defines = false;   // name() before its body
    while (!in.ends()) {
        Simple command;
        const std::string op = read_simple(r, in, command);
        if (op == "\n" && command.documents.empty()) {
            in.next();
        } else if (op == "\n") {
            in.next();  // the documents follow
        }
        while (!command.words.empty() && assigned_name(command.words.front().text) == 0) {
            const std::string word = command.words.front().text;
            if (word == "function" && command.words.size() > 1) {
                command.words.erase(command.words.begin(), command.words.begin() + 2);
                defines = true;
                continue;
            }
            const bool loops = std::find(openers.begin(), openers.end(), word) != openers.end();
            if (!take_reserved(word, branches, combined ? std::nullopt : status, condition)) {
                if (loops) {  // its variable has many values
                    if (word == "for" && command.words.size() > 1) {
                        r.script.variables[command.words[1].text] = {{"", {command.words[1].text}}};
                    }
                    command.words.clear();
                }
                break;
            }
            if (word == "{" && defines) {
                branches.back().runs = Runs::maybe;
                defines = false;
            }
            if (word == "if" || word == "elif") {
                combined = false;
                status.reset();
            }
            command.words.erase(command.words.begin());
        }
        defines = op == "(" || (defines && command.words.empty());
        if (!command.words.empty()) {
            status = run_simple(r, in, command, runs_now(branches));
            combined = combined || op == "&&" || op == "||" || op == "|";
        }
    }
}

}  // namespace

std::vector<std::string> sbatch_directives(const std::string& text)
{
    std::vector<std::string> directives;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        at = end + 1;
        if (!line.empty() && line.back() == '\r') {
            line.pop_back();
        }
        if (line.starts_with("#SBATCH ")) {
            directives.push_back(line.substr(8));
        } else if (!line.empty() && line.front() != '#' && line.find_first_not_of(" \t") != std::string::npos) {
            break;
        }
    }
    return directives;
}

ShellScript read_shell_script(const std::string& text, const std::string& path, const ShellInputs& inputs)
{
    Reader r{inputs, {}};
    if (text.size() > longest_script) {
        throw InputError({path, 0}, fmt::format("is longer than {} characters", longest_script),
                         "give the script or configuration that starts the training");
    }
    for (const auto& values : {inputs.environment, inputs.given}) {
        for (const auto& [name, value] : values) {
            r.script.variables[name] = {{value, {}}};
        }
    }
    r.script.directives = sbatch_directives(text);
    run_text(r, text, path, 1);
    return std::move(r.script);
}

}  // namespace prismopt
