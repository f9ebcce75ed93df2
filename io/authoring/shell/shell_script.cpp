#include "io/authoring/shell/shell_script.hpp"

#include "io/authoring/shell/shell_conditions.hpp"
#include "io/authoring/shell/shell_started.hpp"
#include "io/authoring/shell/shell_values.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace prismopt {

namespace shell {

namespace {

/// What a compound command was opened by, and when its commands run.
struct Branch {
    enum class Kind { branches, group, subshell, patterns };  // if, loops; { }; ( ); case

    Kind kind = Kind::branches;
    When outer = {};  // of the whole compound command
    Runs runs = Runs::maybe;
    bool decided = true;  // so far, each condition
    bool taken = false;   // an earlier branch of the same `if`
    Names names = {};     // that decide it
    Status before = {};   // of what stands before it, and the operator between
    std::string joint = {};
    bool negated = false;
    bool piped = false;                                               // behind |
    std::optional<std::map<std::string, ShellValue>> variables = {};  // that its end may restore
};

struct HereDocument {
    std::string end;
    bool literal = false;
    bool tabs = false;
};

/// Reads <<END, >file, 2>&1 and the like; returns the target of the redirection.
std::string read_redirection(Reader& r, Text& in, std::vector<HereDocument>& documents)
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

/// The text of a here-document between quotes: in it, quotes are plain characters, also behind a backslash.
std::string in_quotes(const std::string& body)
{
    std::string quoted = "\"";
    for (std::size_t i = 0; i < body.size(); ++i) {
        const bool pair = body[i] == '\\' && i + 1 < body.size();
        if (pair && body[i + 1] == '"') {
            quoted += R"(\\\")";
            ++i;
        } else if (body[i] == '"') {
            quoted += R"(\")";
        } else {
            quoted += body[i];
            if (pair) {
                quoted += body[++i];
            }
        }
    }
    return quoted + '"';
}

/// One command as it is read.
struct Simple {
    std::vector<RawWord> words;
    std::vector<HereDocument> documents;
    std::string output;  // file that it writes
    int line = 0;
};

/// `when`, and also when `by` says.
void narrow(When& when, const When& by)
{
    if (by.runs == Runs::no) {
        when.runs = Runs::no;
    } else if (by.runs == Runs::maybe && when.runs == Runs::yes) {
        when.runs = Runs::maybe;
    }
    if (by.runs == Runs::maybe) {
        when.names.insert(when.names.end(), by.names.begin(), by.names.end());
    }
}

template <class Words>
bool is_one_of(const Words& words, std::string_view word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Where the words begin that a shell reads as commands: behind eval, or behind "bash -c"; 0: nowhere.
std::size_t text_of_commands(const std::vector<ShellWord>& words)
{
    if (words.front().text == "eval") {
        return words.size() > 1 ? 1 : 0;
    }
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
        const std::string& option = words[i + 1].text;
        if (is_shell(words[i].text) && option.starts_with('-') && !option.starts_with("--") &&
            option.ends_with('c')) {
            return i + 2;
        }
    }
    return 0;
}

bool is_name(std::string_view word)
{
    return !word.empty() && begins_name(word[0]) && std::all_of(word.begin(), word.end(), in_name);
}

/// Variables to which a command gives values that are not known: those of read, mapfile, getopts, printf -v.
std::vector<std::string> names_that_get_values(const std::vector<ShellWord>& words)
{
    struct Command {
        std::string_view name;
        std::string_view options;  // with a value of their own
    };
    constexpr std::array<Command, 5> commands{{{"read", "dnNptui"},
                                               {"mapfile", "dnOsucC"},
                                               {"readarray", "dnOsucC"},
                                               {"getopts", ""},
                                               {"printf", ""}}};
    const auto* const known =
        std::find_if(commands.begin(), commands.end(),
                     [&words](const Command& command) { return command.name == words.front().text; });
    if (known == commands.end()) {
        return {};
    }
    if (known->name == "printf") {
        const bool gives = words.size() > 2 && words[1].text == "-v";
        return gives ? std::vector<std::string>{words[2].text} : std::vector<std::string>{};
    }
    std::vector<std::string> names;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        if (word.size() > 1 && word[0] == '-') {
            i += known->options.find(word.back()) != std::string_view::npos ? 1 : 0;
        } else if (is_name(word)) {
            names.push_back(word);
        }
    }
    return names;
}

void unset(Reader& r, const std::vector<ShellWord>& words, int line, const When& when)
{
    for (const ShellWord& word : words) {
        if (when.runs == Runs::yes && !r.inputs.given.contains(word.text)) {
            r.script.variables.erase(word.text);
        } else if (when.runs == Runs::maybe && r.script.variables.contains(word.text)) {
            give_unknown(r, word.text, fmt::format("depends on a condition in or before line {}", line),
                         when);
        }
    }
}

/// `words`: expanded. `input`: of its here-document. `inner`: when what it does reaches the script.
void run_command(Reader& r, const Text& in, std::vector<ShellWord> words,
                 std::map<std::string, ShellWord> environment, const ShellWord& input, int line,
                 const When& when, const When& inner)
{
    if (words.empty() || when.runs == Runs::no) {
        return;
    }
    const std::string& name = words.front().text;
    if ((name == "source" || name == ".") && words.size() > 1) {
        source(r, in, words, line, when);
        return;
    }
    if (name == "unset") {
        unset(r, words, line, inner);
        return;
    }
    if (name == "shift") {
        shift_arguments(r, words, line, inner);
        return;
    }
    if (name == "set") {
        set_options(r, words, line, inner);
        return;
    }
    for (const std::string& own : names_that_get_values(words)) {
        give_unknown(r, own, fmt::format("is what {} gives in line {}", name, line), inner);
    }
    if (name == "echo" || name == "printf") {
        return;
    }
    if (const std::size_t first = text_of_commands(words); first > 0) {
        std::string text;
        for (std::size_t i = 0; i + 2 < first; ++i) {  // what starts the shell: srun
            text += words[i].marked + ' ';
        }
        for (std::size_t i = first; i < words.size(); ++i) {
            text += (i == first ? "" : " ") + words[i].marked;
        }
        if (++r.depth > deepest_nesting) {
            refuse(in, line, "eval nests too deeply", "write the command out");
        }
        grow(r, in, text.size());
        run_text(r, text, in.path, line, when);
        --r.depth;
        return;
    }
    const Started started{words, environment, input, line};
    if (!submit_job(r, in, started, when) && !start_script(r, in, started, when)) {
        r.script.commands.push_back(
            {{in.path, line}, std::move(words), std::move(environment), r.directives});
    }
}

constexpr std::array<std::string_view, 6> declaring{"export",   "declare", "local",
                                                    "readonly", "typeset", "let"};

/// Without blanks at its ends, as `read` takes a text.
std::string trimmed(const std::string& text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Whether a command is run whose output is a value.
bool substitutes(const std::string& word)
{
    return word.find("$(") != std::string::npos || word.find('`') != std::string::npos;
}

/// Records the variables that `export` and `declare -x` name.
void record_exports(Reader& r, const Simple& command, std::size_t first)
{
    const auto begin = command.words.begin() + static_cast<std::ptrdiff_t>(first);
    const bool exports =
        begin->text == "export" ||
        std::any_of(begin, command.words.end(), [](const RawWord& w) { return w.text == "-x"; });
    for (auto word = begin + 1; exports && word < command.words.end(); ++word) {
        r.exported.insert(word->text.substr(0, word->text.find_first_of("+=")));
    }
}

/// The commands in NAME=$(sbatch ...), whose value is not known; empty: it is no such assignment.
std::string submitting(std::string_view assignment)
{
    const std::size_t begin = assignment.find("$(sbatch ");
    return begin == std::string_view::npos || !assignment.ends_with(')')
               ? ""
               : std::string(assignment.substr(begin + 2, assignment.size() - begin - 3));
}

/// Runs a simple command; returns its status. `piped`: it is a process of its own, whose
/// variables do not reach the script.
Status run_simple(Reader& r, Text& in, const Simple& command, const When& when, bool piped)
{
    const When inner = piped ? When{Runs::no, {}} : when;
    r.when = inner;
    std::size_t first = 0;
    std::vector<std::size_t> assignments;
    while (first < command.words.size() && assigned_name(command.words[first].text) > 0) {
        assignments.push_back(first++);
    }
    const bool declares =
        first < command.words.size() &&
        std::find(declaring.begin(), declaring.end(), command.words[first].text) != declaring.end();
    if (first == command.words.size() || declares) {
        bool succeeds = true;
        for (const RawWord& word : command.words) {
            if (const std::size_t length = assigned_name(word.text); length > 0) {
                assign(r, in, word, length, inner);
                succeeds = succeeds && (declares || !substitutes(word.text));
                run_text(r, submitting(word.text), in.path, word.line, when);
            }
        }
        if (declares) {
            record_exports(r, command, first);
        }
        return succeeds ? Status{true, {}} : Status{};
    }
    std::map<std::string, ShellWord> environment;
    for (const std::size_t i : assignments) {
        const std::string& word = command.words[i].text;
        const std::size_t length = assigned_name(word);
        environment[word.substr(0, length)] = expand_whole(r, in, std::string_view(word).substr(length + 1));
    }
    std::vector<ShellWord> words;
    for (std::size_t i = first; i < command.words.size(); ++i) {
        r.line = command.words[i].line;
        for (ShellWord& word : expand(r, in, command.words[i].text, true)) {
            words.push_back(std::move(word));
        }
    }
    const Status status = status_of(r, words);
    const bool takes = !words.empty() && words.front().text == "read" && !command.documents.empty();
    ShellWord input;
    for (const HereDocument& document : command.documents) {
        const std::string body = document_body(in, document);
        const ShellWord text = document.literal ? shell_word_of(body) : expand_whole(r, in, in_quotes(body));
        if (takes) {
            give(r, words.back().text, {shell_word_of(trimmed(text.marked), text.place)}, inner,
                 command.line);
        } else if (!command.output.empty() && when.runs != Runs::no) {
            r.script.files[command.output] = text.text;
        } else {
            input = text;
        }
    }
    if (!takes) {
        run_command(r, in, std::move(words), std::move(environment), input, command.line, when, inner);
    }
    return status;
}

/// Skips a blank, the end of a line that is continued, or a comment; returns whether there was one.
bool skip_blank_or_comment(Text& in)
{
    const char c = in.peek();
    const bool continues = c == '\\' && (in.peek(1) == '\n' || (in.peek(1) == '\r' && in.peek(2) == '\n'));
    if (!is_blank(c) && !continues && c != '#') {
        return false;
    }
    while ((continues || c == '#') && !in.ends() && in.peek() != '\n') {
        in.next();
    }
    if (c != '#') {
        in.next();
    }
    return true;
}

/// Reads one simple command up to its end: a line, ; & | or a parenthesis. Returns the operator that ends it.
std::string read_simple(Reader& r, Text& in, Simple& command)
{
    bool in_test = false;
    command.line = in.line;
    while (!in.ends()) {
        if (skip_blank_or_comment(in)) {
            continue;
        }
        const char c = in.peek();
        if (c == '\n' && !in_test) {
            return "\n";
        } else if (in_test &&
                   (c == '&' || c == '|' || c == '<' || c == '>' || c == '(' || c == ')' || c == '\n')) {
            std::string op(1, c == '\n' ? ' ' : c);
            in.next();
            if (in.peek() == c && (c == '&' || c == '|')) {
                op += c;
                in.next();
            }
            command.words.push_back({op, in.line});
        } else if (c == '<' || c == '>' || (c == '&' && in.peek(1) == '>')) {
            const bool writes = c == '>';
            const std::string target = read_redirection(r, in, command.documents);
            if (writes && !target.empty()) {
                command.output = target;
            }
        } else if (c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
            std::string op(1, c);
            in.next();
            if (in.peek() == c) {
                op += c;
                in.next();
            }
            return op;
        } else {
            if (command.words.empty()) {
                command.line = in.line;
            }
            RawWord word = raw_word(in);
            const bool digit =
                word.text.size() == 1 && std::isdigit(static_cast<unsigned char>(word.text[0])) != 0;
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
constexpr std::array<std::string_view, 4> closers{"fi", "done", "esac", "}"};

/// The condition of a branch is known: whether its commands run.
void begin_then(Branch& branch, const Status& condition)
{
    branch.decided = branch.decided && condition.holds.has_value();
    if (branch.taken) {
        branch.runs = Runs::no;
    } else if (!branch.decided) {
        branch.runs = Runs::maybe;
    } else {
        branch.runs = *condition.holds ? Runs::yes : Runs::no;
    }
    branch.taken = branch.taken || branch.runs == Runs::yes;
    if (!condition.holds) {
        branch.names.insert(branch.names.end(), condition.missing.begin(), condition.missing.end());
    }
}

/// The next condition of a compound command, or its `else`: whether that runs.
void begin_otherwise(Branch& branch)
{
    if (branch.taken) {
        branch.runs = Runs::no;
    } else {
        branch.runs = branch.decided ? Runs::yes : Runs::maybe;
    }
}

/// The status of a compound command, of that of its last command. `piped`: it is a process of its own.
Status status_of_branch(const Branch& branch, const Status& last, bool piped)
{
    const bool of_last = branch.kind == Branch::Kind::group || branch.kind == Branch::Kind::subshell;
    const Status own = of_last && !piped ? last : Status{};
    return joined_status(branch.before, branch.joint, branch.negated ? negated_status(own) : own);
}

/// Variables to which the first line of a loop gives values.
std::vector<std::string> loop_variables(const std::vector<RawWord>& line)
{
    const std::string& word = line.front().text;
    std::vector<ShellWord> words;
    for (std::size_t i = 1; i < line.size(); ++i) {
        words.push_back(shell_word_of(line[i].text));
    }
    if (word == "case" || words.empty()) {
        return {};
    }
    if (word == "for") {
        return {words.front().text};
    }
    while (!words.empty() && assigned_name(words.front().text) > 0) {  // IFS= read
        words.erase(words.begin());
    }
    return words.empty() ? std::vector<std::string>{} : names_that_get_values(words);
}

/// The text of an arithmetic command, read up to its parentheses.
std::string read_arithmetic(Text& in)
{
    const std::size_t begin = in.at;
    int open = 2;
    while (!in.ends() && open > 0) {
        if (in.peek() == '(') {
            ++open;
        } else if (in.peek() == ')') {
            --open;
        }
        in.next();
    }
    const std::size_t length = in.at - begin;
    return std::string(in.all.substr(begin, length - std::min<std::size_t>(2, length)));
}

/// Names that an arithmetic command changes.
std::vector<std::string> names_that_arithmetic_changes(const std::string& text)
{
    const bool steps = text.find("++") != std::string::npos || text.find("--") != std::string::npos;
    std::vector<std::string> names;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && in_name(text[end])) {
            ++end;
        }
        const std::size_t sign = std::min(text.find_first_not_of(" +-*/%<>&|^", end), text.size());
        const bool compared = sign > 0 && (text[sign - 1] == '<' || text[sign - 1] == '>');
        const bool assigned = text.substr(sign, 1) == "=" && text.substr(sign, 2) != "==" && !compared;
        const std::string name = text.substr(at, end - at);
        if (is_name(name) && (assigned || steps)) {
            names.push_back(name);
        }
        at = std::max(end, at + 1);
    }
    return names;
}

/// Reads the ")" of the parentheses behind a function's name; false if they are of another kind.
bool read_definition(Text& in, const Simple& command, const std::string& op)
{
    if (op != "(" || command.words.empty()) {
        return false;
    }
    Text ahead = in;
    while (is_blank(ahead.peek())) {
        ahead.next();
    }
    if (ahead.peek() != ')') {
        return false;
    }
    while (in.at <= ahead.at) {
        in.next();
    }
    return true;
}

std::map<std::string, ShellValue> saved_variables(Reader& r, const Text& in)
{
    for (const auto& [name, words] : r.script.variables) {
        std::size_t size = name.size();
        for (const ShellWord& word : words) {
            size += word.marked.size();
        }
        grow(r, in, size);
    }
    return r.script.variables;
}

/// Where the commands of a text stand: the compound commands around them, and what came before.
struct ControlFlow {
    When outer;
    std::vector<Branch> branches;
    Status status;             // of the last command
    std::string joint;         // the operator between the last command and this one
    Status before;             // of what stands before the pipeline of the last command
    std::string before_joint;  // && or || between that and the pipeline
    bool negated = false;
    bool closed = false;   // whether a compound command has just ended, so that an operator may follow
    bool defines = false;  // name() before its body
};

When when_now(const ControlFlow& flow)
{
    When all = flow.outer;
    for (const Branch& branch : flow.branches) {
        narrow(all, branch.outer);
        narrow(all, {branch.runs, branch.names});
    }
    narrow(all, when_joined(flow.before, flow.before_joint));
    return all;
}

void forget_status(ControlFlow& flow)
{
    flow.status = {};
    flow.joint.clear();
    flow.before = {};
    flow.before_joint.clear();
}

void open_branch(Reader& r, const Text& in, ControlFlow& flow, Branch::Kind kind, Runs runs)
{
    Branch branch;
    branch.kind = kind;
    branch.outer = when_joined(flow.before, flow.before_joint);
    branch.runs = runs;
    branch.before = flow.before;
    branch.joint = flow.before_joint;
    branch.negated = flow.negated;
    branch.piped = flow.joint == "|";
    const bool may_be_piped = kind == Branch::Kind::group || branch.piped;
    if (kind == Branch::Kind::subshell || (may_be_piped && !flow.defines)) {
        branch.variables = saved_variables(r, in);
    }
    flow.branches.push_back(std::move(branch));
    flow.negated = false;
    forget_status(flow);
}

/// `op`: behind the end of the compound command.
void close_branch(Reader& r, ControlFlow& flow, const std::string& op)
{
    if (flow.branches.empty()) {
        return;
    }
    Branch& branch = flow.branches.back();
    const bool piped = branch.piped || op == "|" || op == "&";
    if (branch.variables && (branch.kind == Branch::Kind::subshell || piped)) {
        r.script.variables = std::move(*branch.variables);
    }
    flow.status = status_of_branch(branch, flow.status, piped);
    flow.before = branch.before;
    flow.before_joint = branch.joint;
    flow.branches.pop_back();
    flow.closed = true;
}

/// A loop or `case`, up to the end of its first line: its variable has many values.
void open_loop(Reader& r, const Text& in, ControlFlow& flow, Simple& command)
{
    const std::string& word = command.words.front().text;
    open_branch(r, in, flow, word == "case" ? Branch::Kind::patterns : Branch::Kind::branches, Runs::maybe);
    for (const std::string& name : loop_variables(command.words)) {
        give_unknown(r, name, fmt::format("is a variable of the loop in line {}", command.line),
                     when_now(flow));
    }
    command.words.clear();
}

/// Handles a reserved word at the beginning of a command. Returns whether it was one; what
/// follows it is a command of its own.
bool run_reserved(Reader& r, const Text& in, ControlFlow& flow, const std::string& word,
                  const std::string& op)
{
    const bool inside = !flow.branches.empty();
    if (word == "if") {
        open_branch(r, in, flow, Branch::Kind::branches, Runs::yes);  // of the condition itself
    } else if (word == "{") {
        open_branch(r, in, flow, Branch::Kind::group, flow.defines ? Runs::maybe : Runs::yes);
        flow.defines = false;
    } else if (word == "then" && inside) {
        begin_then(flow.branches.back(), flow.status);
        forget_status(flow);
    } else if ((word == "elif" || word == "else") && inside) {
        begin_otherwise(flow.branches.back());
        forget_status(flow);
    } else if (is_one_of(closers, word)) {
        close_branch(r, flow, op);
    } else if (word == "do") {
        forget_status(flow);
    } else if (word == "!") {
        flow.negated = !flow.negated;
    } else {
        return word == "time" || word == "in";
    }
    return true;
}

/// An arithmetic command, behind its parentheses: what it changes is not known.
void run_arithmetic(Reader& r, Text& in, ControlFlow& flow)
{
    const std::string text = read_arithmetic(in);
    for (const std::string& name : names_that_arithmetic_changes(text)) {
        give_unknown(r, name, fmt::format("is what (({})) gives in line {}", printable(text), in.line),
                     when_now(flow));
    }
    flow.status = joined_status(flow.before, flow.before_joint, {});
    flow.closed = true;
}

/// Parentheses behind the words of a command.
void run_parentheses(Reader& r, Text& in, ControlFlow& flow, const std::string& op)
{
    const bool in_patterns = !flow.branches.empty() && flow.branches.back().kind == Branch::Kind::patterns;
    if (op == "((" && in.all.find("))", in.at) != std::string_view::npos) {
        run_arithmetic(r, in, flow);
    } else if (op.front() == '(' && !in_patterns) {
        for (std::size_t i = 0; i < op.size(); ++i) {
            open_branch(r, in, flow, Branch::Kind::subshell, flow.defines ? Runs::maybe : Runs::yes);
            flow.defines = false;
        }
    } else if (op.front() == ')') {
        for (std::size_t i = 0;
             i < op.size() && !flow.branches.empty() && flow.branches.back().kind == Branch::Kind::subshell;
             ++i) {
            close_branch(r, flow, "");
        }
    }
}

/// Runs a simple command that ends with `op`, and the reserved words before it.
void run_next(Reader& r, Text& in, ControlFlow& flow, Simple& command, const std::string& op)
{
    if (command.words.empty() && flow.closed) {
        flow.joint = op;
    }
    if (flow.joint != "|" && (!command.words.empty() || op.starts_with('('))) {
        flow.before = flow.status;
        flow.before_joint = flow.joint == "&&" || flow.joint == "||" ? flow.joint : "";
    }
    flow.closed = false;
    flow.negated = false;
    while (!command.words.empty() && assigned_name(command.words.front().text) == 0) {
        const std::string word = command.words.front().text;
        if (word == "function" && command.words.size() > 1) {
            command.words.erase(command.words.begin(), command.words.begin() + 2);
            flow.defines = true;
        } else if (is_one_of(openers, word)) {
            open_loop(r, in, flow, command);
        } else if (run_reserved(r, in, flow, word, op)) {
            command.words.erase(command.words.begin());
        } else {
            break;
        }
    }
    if (read_definition(in, command, op)) {
        flow.defines = true;
        return;
    }
    if (!command.words.empty()) {
        const bool piped = flow.joint == "|" || op == "|" || op == "&";
        Status own = run_simple(r, in, command, when_now(flow), piped);
        if (piped) {
            own.holds.reset();
        }
        flow.status = joined_status(flow.before, flow.before_joint, flow.negated ? negated_status(own) : own);
        flow.joint = op;
        flow.defines = false;
    } else if (flow.closed) {
        flow.joint = op;
        flow.closed = false;
    }
    if (op.starts_with('(') || op.starts_with(')')) {
        run_parentheses(r, in, flow, op);
    }
}

}  // namespace

void run_text(Reader& r, std::string_view text, const std::string& path, int line, const When& outer)
{
    Text in{text, path, 0, line};
    ControlFlow flow;
    flow.outer = outer;
    while (!in.ends()) {
        Simple command;
        const std::string op = read_simple(r, in, command);
        if (op == "\n") {
            in.next();  // the documents follow
        }
        run_next(r, in, flow, command, op);
    }
}

}  // namespace shell

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
        } else if (!line.empty() && line.front() != '#' &&
                   line.find_first_not_of(" \t") != std::string::npos) {
            break;
        }
    }
    return directives;
}

ShellScript read_shell_script(const std::string& text, const std::string& path, const ShellInputs& inputs)
{
    shell::Reader r{inputs, {}};
    constexpr std::size_t longest_script = 4'000'000;
    if (text.size() > longest_script) {
        throw InputError({path, 0}, fmt::format("is longer than {} characters", longest_script),
                         "give the script or configuration that starts the training");
    }
    for (const auto& values : {inputs.environment, inputs.given}) {
        for (const auto& [name, value] : values) {
            r.script.variables[name] = {shell_word_of(value)};
        }
    }
    r.script.directives = sbatch_directives(text);
    r.open = {path};
    std::string own = text;
    std::replace(own.begin(), own.end(), ShellWord::mark, ' ');
    shell::run_text(r, own, path, 1, {});
    return std::move(r.script);
}

}  // namespace prismopt
