#include "io/authoring/shell/shell_values.hpp"

#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt::shell {

namespace {

constexpr std::size_t most_characters = 4'000'000;  // of all values

/// Words that an expansion makes: a blank outside quotes ends one.
class Fields {
public:
    explicit Fields(InputPlace place) : place_(std::move(place)) {}

    void text(std::string_view added)
    {
        open_ = true;
        last_ += added;
    }
    void missing(const Names& names)
    {
        open_ = true;
        for (const std::string& name : names) {
            last_ += marked(name);
        }
    }
    void quoted() { open_ = true; }
    void end()
    {
        if (open_) {
            done_.push_back(shell_word_of(std::move(last_), own_.line > 0 ? own_ : place_));
        }
        last_.clear();
        own_ = {};
        open_ = false;
    }
    /// A value: all of it in quotes; outside them its blanks end words.
    void add(const ShellWord& value, bool in_quotes)
    {
        if (!open_) {
            own_ = value.place;
        }
        if (in_quotes) {
            text(value.marked);
            return;
        }
        const std::string_view all = value.marked;
        for (std::size_t at = 0; at < all.size();) {
            const std::size_t length = all[at] == ShellWord::mark ? marked_length(all, at) : 1;
            if (is_blank(all[at]) || all[at] == '\n') {
                end();
                own_ = value.place;
            } else {
                text(all.substr(at, length));
            }
            at += length;
        }
    }
    std::vector<ShellWord> words()
    {
        end();
        return std::move(done_);
    }

private:
    InputPlace place_;
    std::vector<ShellWord> done_;
    std::string last_;
    InputPlace own_;
    bool open_ = false;
};

}  // namespace

void grow(Reader& r, const Text& in, std::size_t by)
{
    r.expanded += by;
    if (r.expanded > most_characters) {
        refuse(in, in.line, fmt::format("values of the script grow beyond {} characters", most_characters),
               "give the arguments of the trainer in a file of their own");
    }
}

ShellWord expand_whole(Reader& r, const Text& in, std::string_view raw)
{
    const std::vector<ShellWord> words = expand(r, in, raw, false);
    return words.empty() ? ShellWord{} : words.front();
}

namespace {

/// The value of a variable; nothing: it has none.
const ShellValue* value_of(const Reader& r, const std::string& name)
{
    const auto found = r.script.variables.find(name);
    return found == r.script.variables.end() ? nullptr : &found->second;
}

void add_array(Reader& r, Fields& fields, const ShellValue& value, bool quoted)
{
    r.empty_array = r.empty_array || value.empty();
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) {
            fields.end();
        }
        fields.add(value[i], quoted);
    }
}

/// Arguments of the script, which no file states: $1, $@, $*; other names that are no variables: $?.
void add_argument(Reader& r, const std::string& name, bool quoted, Fields& fields)
{
    const bool all = name == "$@" || name == "$*";
    if (const ShellValue* value = value_of(r, name)) {
        r.empty_array = r.empty_array || (all && value->size() == 1 && value->front().marked.empty());
        const bool one_text = name == "$@" && r.inputs.given.contains(name);  // whose words are not divided
        add_array(r, fields, *value, quoted && !one_text);
        return;
    }
    if (all || std::isdigit(static_cast<unsigned char>(name[1])) != 0) {
        r.script.why[name] =
            all ? "the arguments of the script" : fmt::format("argument {} of the script", name);
    }
    fields.missing({name});
}

/// ${NAME:-other} and the like; `rest`: what follows the name.
void add_alternative(Reader& r, const Text& in, const std::string& name, std::string_view rest, bool quoted,
                     Fields& fields)
{
    const ShellValue* value = value_of(r, name);
    const bool colon = rest.starts_with(":");
    const char form = rest.size() > (colon ? 1U : 0U) ? rest[colon ? 1 : 0] : '\0';
    const bool empty =
        value != nullptr &&
        (value->empty() || (value->size() == 1 && value->front().known() && value->front().text.empty()));
    const bool set = value != nullptr && !(colon && empty);
    const std::string_view other =
        rest.substr(std::min(rest.size(), colon ? std::size_t{2} : std::size_t{1}));
    if (form == '-' || form == '=') {
        if (set) {
            fields.add(value->empty() ? ShellWord{} : value->front(), quoted);
        } else {
            const ShellWord usual = expand_whole(r, in, other);
            fields.add(usual, quoted);
            if (form == '=') {
                give(r, name, {usual}, r.when, r.line);
            }
        }
    } else if (form == '+') {
        if (set) {
            fields.add(expand_whole(r, in, other), quoted);
        }
    } else if (form == '?') {
        if (set) {
            fields.add(value->empty() ? ShellWord{} : value->front(), quoted);
        } else {
            fields.missing({name});
        }
    } else {
        fields.missing({fmt::format("${{{}{}}}", name.substr(name.find_first_not_of('$')),
                                    printable(std::string(rest)))});  // patterns
    }
}

/// ${...}
void add_expansion(Reader& r, const Text& in, std::string_view inner, bool quoted, Fields& fields)
{
    std::size_t length = 0;
    while (length < inner.size() && in_name(inner[length])) {
        ++length;
    }
    const bool argument = length > 0 && std::isdigit(static_cast<unsigned char>(inner[0])) != 0;
    const std::string name = (argument ? "$" : "") + std::string(inner.substr(0, length));
    std::string_view rest = inner.substr(length);
    const ShellValue* value = value_of(r, name);
    if (name.empty()) {
        if (inner == "@" || inner == "*") {
            add_argument(r, fmt::format("${}", inner), quoted, fields);
        } else {
            fields.missing({fmt::format("${{{}}}", printable(std::string(inner)))});
        }
        return;
    }
    if (argument && rest.empty()) {
        add_argument(r, name, quoted, fields);
        return;
    }
    if (rest.starts_with("[@]") || rest.starts_with("[*]")) {
        if (rest.size() > 3) {
            fields.missing({fmt::format("${{{}}}", printable(std::string(inner)))});
        } else if (value == nullptr) {
            fields.missing({name});
        } else {
            add_array(r, fields, *value, quoted);
        }
        return;
    }
    if (!rest.empty()) {
        add_alternative(r, in, name, rest, quoted, fields);
    } else if (value == nullptr) {
        fields.missing({name});
    } else if (!value->empty()) {
        fields.add(value->front(), quoted);
    }
}

/// $(...) and `...`: a value that the user gives, or missing.
void add_substitution(const Reader& r, const std::string& text, Fields& fields, bool quoted)
{
    const auto given = r.inputs.given.find(text);
    if (given != r.inputs.given.end()) {
        fields.add(shell_word_of(given->second), quoted);
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
            const ShellWord expression =
                expand_whole(r, in, fmt::format("\"{}\"", inner.substr(1, inner.size() - 2)));
            missing = expression.missing;
            const auto number = missing.empty()
                                    ? shell_arithmetic(expression.text, r.script.variables, missing)
                                    : std::nullopt;
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
        add_argument(r, fmt::format("${}", c), quoted, fields);
    } else {
        fields.text("$");
    }
}

}  // namespace

std::vector<ShellWord> expand(Reader& r, const Text& in, std::string_view raw, bool splits)
{
    if (++r.depth > deepest_nesting) {
        refuse(in, in.line, "values nest too deeply", "write the value out");
    }
    Fields fields({in.path, r.line});
    bool quoted = false;
    for (std::size_t at = 0; at < raw.size();) {
        const char c = raw[at];
        if (c == ShellWord::mark) {
            const std::size_t length = marked_length(raw, at);
            fields.text(raw.substr(at, length));
            at += length;
        } else if (c == '\'' && !quoted) {
            const std::size_t end = std::min(raw.find('\'', at + 1), raw.size());
            fields.quoted();
            fields.text(raw.substr(at + 1, end - at - 1));
            at = end + 1;
        } else if (c == '"') {
            quoted = !quoted;
            if (quoted) {
                r.empty_array = false;
            } else if (!r.empty_array) {
                fields.quoted();
            }
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
            add_substitution(r, fmt::format("$({})", raw.substr(at + 1, end - at - 1)), fields,
                             quoted || !splits);
            at = end + 1;
        } else {
            fields.text(raw.substr(at, 1));
            ++at;
        }
    }
    --r.depth;
    std::vector<ShellWord> words = fields.words();
    for (const ShellWord& word : words) {
        grow(r, in, word.marked.size());
    }
    if (!splits && words.size() > 1) {  // "$@" or an array in an assignment
        std::string all;
        for (const ShellWord& word : words) {
            all += (all.empty() ? "" : " ") + word.marked;
        }
        words = {shell_word_of(all, words.front().place)};
    }
    return words;
}

namespace {

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
            r.line = word.line;
            for (ShellWord& own : expand(r, text, word.text, true)) {
                words.push_back(std::move(own));
            }
        }
    }
    return words;
}

/// The words of a value, each of which depends on these names as well.
std::string depending(std::string_view value, const Names& names)
{
    std::string marks;
    for (const std::string& name : names) {
        marks += marked(name);
    }
    std::string all;
    bool in_word = false;
    for (std::size_t at = 0; at < value.size();) {
        const std::size_t length = value[at] == ShellWord::mark ? marked_length(value, at) : 1;
        const bool blank = is_blank(value[at]) || value[at] == '\n';
        all += in_word && blank ? marks : "";
        in_word = !blank;
        all += value.substr(at, length);
        at += length;
    }
    return all + (in_word ? marks : "");
}

bool same_words(const ShellValue& a, const ShellValue& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const ShellWord& one, const ShellWord& other) {
                          return one.marked == other.marked;
                      });
}

/// A value that a branch may give: what it adds to the old one depends on the condition, or all of it does.
void assign_perhaps(ShellValue& variable, ShellValue own, bool adds, const Names& names)
{
    if (!adds && same_words(variable, own)) {
        return;
    }
    const bool longer = !adds && variable.size() == 1 && own.size() == 1 &&
                        own.front().marked.starts_with(variable.front().marked) &&
                        !variable.front().marked.empty();
    if (longer) {
        const std::string more = own.front().marked.substr(variable.front().marked.size());
        variable.front() =
            shell_word_of(variable.front().marked + depending(more, names), variable.front().place);
    } else if (adds) {
        for (const ShellWord& word : own) {
            variable.push_back(shell_word_of(depending(word.marked, names), word.place));
        }
    } else {
        std::string marks;
        for (const std::string& name : names) {
            marks += marked(name);
        }
        variable = {shell_word_of(marks)};
    }
}

}  // namespace

std::size_t assigned_name(std::string_view word)
{
    std::size_t length = 0;
    while (length < word.size() && in_name(word[length])) {
        ++length;
    }
    const std::string_view rest = word.substr(length);
    return length > 0 && begins_name(word[0]) && (rest.starts_with('=') || rest.starts_with("+=")) ? length
                                                                                                   : 0;
}

void give(Reader& r, const std::string& name, ShellValue value, const When& when, int line, bool adds)
{
    if (r.inputs.given.contains(name) || when.runs == Runs::no) {
        return;
    }
    ShellValue& variable = r.script.variables[name];
    if (when.runs == Runs::yes) {
        variable = std::move(value);
        return;
    }
    Names names = when.names;
    if (names.empty()) {
        names = {name};
        r.script.why[name] = fmt::format("depends on a condition in or before line {}", line);
    }
    assign_perhaps(variable, std::move(value), adds, names);
}

void give_unknown(Reader& r, const std::string& name, const std::string& why, const When& when)
{
    if (!r.inputs.given.contains(name) && when.runs != Runs::no) {
        r.script.variables[name] = {shell_word_of(marked(name))};
        r.script.why[name] = why;
    }
}

void assign(Reader& r, const Text& in, const RawWord& word, std::size_t length, const When& when)
{
    const std::string name = word.text.substr(0, length);
    if (r.inputs.given.contains(name) || when.runs == Runs::no) {
        return;
    }
    r.line = word.line;
    const bool adds = word.text[length] == '+';
    const std::string_view value = std::string_view(word.text).substr(length + (adds ? 2 : 1));
    const bool array = value.starts_with('(');
    ShellValue own = array ? array_words(r, in, value.substr(1, value.size() - 2), word.line)
                           : ShellValue{expand_whole(r, in, value)};
    if (when.runs == Runs::maybe) {
        give(r, name, std::move(own), when, word.line, adds);
        return;
    }
    ShellValue& variable = r.script.variables[name];
    if (!adds || variable.empty()) {
        variable = std::move(own);
    } else if (array) {
        variable.insert(variable.end(), own.begin(), own.end());
    } else {
        variable.front() =
            shell_word_of(variable.front().marked + own.front().marked, variable.front().place);
    }
    // A value that is not run has no name by which the user could give it, but that of the variable.
    const bool whole = !array && variable.size() == 1 && variable.front().text.empty() &&
                       variable.front().missing.size() == 1;
    if (whole && variable.front().missing.front().starts_with('$')) {
        const std::string& value_name = variable.front().missing.front();
        const auto why = r.script.why.find(value_name);
        const std::string what = why == r.script.why.end() ? "which is not run" : why->second;
        r.script.why[name] = fmt::format("is {} in line {}, {}", printable(value_name), word.line, what);
        variable = {shell_word_of(marked(name))};
    }
}

}  // namespace prismopt::shell
