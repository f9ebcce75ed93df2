#include "io/authoring/shell/shell_script.hpp"

#include "io/authoring/shell/shell_values.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace prismopt {

namespace shell {

namespace {

struct Branch {
    Runs runs = Runs::maybe;
    bool decided = true;  // so far, each condition
    bool taken = false;   // an earlier branch of the same `if`
    Names names = {};     // that decide it
};

/// What a condition gives.
struct Status {
    std::optional<bool> holds;  // nothing: it cannot be decided
    Names missing;              // names whose values it needs
};

/// Of two commands joined by && or ||.
Status joined_status(const Status& first, const std::string& op, const Status& second)
{
    Status both = second;
    both.missing.insert(both.missing.end(), first.missing.begin(), first.missing.end());
    const bool either = op == "||";
    const bool settled = (first.holds && *first.holds == either) || (second.holds && *second.holds == either);
    const bool known = first.holds && second.holds;
    both.holds = settled ? std::optional(either) : known ? std::optional(!either) : std::nullopt;
    return both;
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

/// A test without && and ||.
Status single_test(std::vector<std::string> w)
{
    const bool negated = !w.empty() && w.front() == "!";
    if (negated) {
        w.erase(w.begin());
    }
    const Decision decision = decided(w);
    return decision == Decision::unknown ? Status{} : Status{(decision == Decision::holds) != negated, {}};
}

/// Whether a command is a test, and holds.
Status status_of(const std::vector<ShellWord>& words)
{
    constexpr std::array<std::string_view, 3> heads{"[", "[[", "test"};
    if (words.empty() || std::find(heads.begin(), heads.end(), words.front().text) == heads.end()) {
        return {};
    }
    Status status;
    std::vector<std::string> w;
    for (const ShellWord& word : words) {
        w.push_back(word.text);
        status.missing.insert(status.missing.end(), word.missing.begin(), word.missing.end());
    }
    if (w.back() == "]" || w.back() == "]]") {
        w.pop_back();
    }
    w.erase(w.begin(), w.begin() + (w.empty() ? 0 : 1));
    if (!status.missing.empty()) {
        return status;
    }
    std::string joint;
    for (std::size_t begin = 0; begin <= w.size();) {
        const auto end = std::find_if(w.begin() + static_cast<std::ptrdiff_t>(begin), w.end(),
                                      [](const std::string& word) { return word == "&&" || word == "||"; });
        const Status own = single_test({w.begin() + static_cast<std::ptrdiff_t>(begin), end});
        status = joint.empty() ? own : joined_status(status, joint, own);
        joint = end == w.end() ? "" : *end;
        begin = static_cast<std::size_t>(end - w.begin()) + 1;
    }
    return status;
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

When when_of(const std::vector<Branch>& branches)
{
    When when;
    for (const Branch& branch : branches) {
        when.runs = branch.runs == Runs::no || when.runs == Runs::no ? Runs::no
                    : branch.runs == Runs::maybe                     ? Runs::maybe
                                                                     : when.runs;
        if (branch.runs == Runs::maybe) {
            when.names.insert(when.names.end(), branch.names.begin(), branch.names.end());
        }
    }
    return when;
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
    std::string own = *text;
    std::replace(own.begin(), own.end(), ShellWord::mark, ' ');
    run_text(r, own, name, 1);
    --r.depth;
}

/// Where the words begin that a shell reads as commands: behind eval, or behind "bash -c"; 0: nowhere.
std::size_t text_of_commands(const std::vector<ShellWord>& words)
{
    if (words.front().text == "eval") {
        return words.size() > 1 ? 1 : 0;
    }
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
        const std::string& shell = words[i].text;
        const std::string& option = words[i + 1].text;
        const bool is_shell = shell == "bash" || shell == "sh" || shell.ends_with("/bash") || shell.ends_with("/sh");
        if (is_shell && option.starts_with('-') && !option.starts_with("--") && option.ends_with('c')) {
            return i + 2;
        }
    }
    return 0;
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
        run_text(r, text, in.path, line);
        --r.depth;
        return;
    }
    r.script.commands.push_back({{in.path, line}, std::move(words), std::move(environment)});
}

constexpr std::array<std::string_view, 6> declaring{"export", "declare", "local", "readonly", "typeset", "let"};

/// Without blanks at its ends, as `read` takes a text.
std::string trimmed(const std::string& text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Runs a simple command; returns its status.
Status run_simple(Reader& r, Text& in, const Simple& command, const When& when)
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
                assign(r, in, word, length, when);
            }
        }
        return {};
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
    Status status = status_of(words);
    const bool takes = !words.empty() && words.front().text == "read" && !command.documents.empty();
    for (const HereDocument& document : command.documents) {
        const std::string body = document_body(in, document);
        std::string escaped;
        for (const char c : body) {
            escaped += c == '"' ? "\\\"" : std::string(1, c);
        }
        const ShellWord text = document.literal ? shell_word_of(body) : expand_whole(r, in, fmt::format("\"{}\"", escaped));
        if (takes && when.runs != Runs::no) {
            r.script.variables[words.back().text] = {shell_word_of(trimmed(text.marked), text.place)};
        } else if (!command.output.empty()) {
            r.script.files[command.output] = text.text;
        }
    }
    run_command(r, in, std::move(words), std::move(environment), command.line, when.runs);
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
            std::string op(1, c == '\n' ? ' ' : c);
            in.next();
            if (in.peek() == c && (c == '&' || c == '|')) {
                op += c;
                in.next();
            }
            command.words.push_back({op, in.line});
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
bool take_reserved(const std::string& word, std::vector<Branch>& branches, const Status& status)
{
    if (word == "if") {
        branches.push_back({});
        branches.back().runs = Runs::yes;  // of the condition itself
        return true;
    }
    if (word == "then" && !branches.empty()) {
        Branch& branch = branches.back();
        branch.decided = branch.decided && status.holds.has_value();
        branch.runs = branch.taken ? Runs::no : !branch.decided ? Runs::maybe : *status.holds ? Runs::yes : Runs::no;
        branch.taken = branch.taken || branch.runs == Runs::yes;
        if (!status.holds) {
            branch.names.insert(branch.names.end(), status.missing.begin(), status.missing.end());
        }
        return true;
    }
    if ((word == "elif" || word == "else") && !branches.empty()) {
        Branch& branch = branches.back();
        branch.runs = branch.taken ? Runs::no : branch.decided ? Runs::yes : Runs::maybe;
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
    Status status;
    std::string joint;     // && or || between the last command and this one
    bool defines = false;  // name() before its body
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
            if (!take_reserved(word, branches, status)) {
                if (loops) {  // its variable has many values
                    if (word == "for" && command.words.size() > 1) {
                        r.script.variables[command.words[1].text] = {shell_word_of(marked(command.words[1].text))};
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
                joint.clear();
                status = {};
            }
            command.words.erase(command.words.begin());
        }
        defines = op == "(" || (defines && command.words.empty());
        if (!command.words.empty()) {
            const Status own = run_simple(r, in, command, when_of(branches));
            status = joint == "&&" || joint == "||" ? joined_status(status, joint, own) : own;
            joint = op;
        }
    }
}

}  // namespace

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
        } else if (!line.empty() && line.front() != '#' && line.find_first_not_of(" \t") != std::string::npos) {
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
    std::string own = text;
    std::replace(own.begin(), own.end(), ShellWord::mark, ' ');
    shell::run_text(r, own, path, 1);
    return std::move(r.script);
}

}  // namespace prismopt
