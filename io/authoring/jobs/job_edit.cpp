#include "io/authoring/jobs/job_edit.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>

namespace prismopt {

namespace {

/// How a file writes a setting.
enum class Style {
    option,
    assignment,
    entry,
    member
};  // "--name value"; "name=value" among words; "name: value" or "name = value" in a line; of JSON

/// Where a setting stands.
struct FoundSetting {
    std::size_t file = 0;
    Style style = Style::option;
    std::size_t begin = 0;        // of its name, with dashes
    std::size_t name_end = 0;     // behind its name
    std::size_t value_begin = 0;  // of its value; equal to `end`: none
    std::size_t end = 0;          // behind its value
};

bool in_name(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}
bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string plain(std::string name)
{
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::size_t line_begin(const std::string& text, int line)
{
    std::size_t at = 0;
    for (int k = 1; k < line && at != std::string::npos; ++k) {
        at = text.find('\n', at);
        if (at != std::string::npos) {
            ++at;
        }
    }
    return at;
}

/// Behind the word at `at`: quoted, an expansion, or up to a blank or what closes a quote or an array.
std::size_t word_end(const std::string& text, std::size_t at)
{
    if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
        const std::size_t close = text.find(text[at], at + 1);
        return close == std::string::npos ? text.size() : close + 1;
    }
    int depth = 0;
    for (; at < text.size() && text[at] != '\n'; ++at) {
        const char c = text[at];
        depth += c == '{' || c == '(' ? 1 : 0;
        if (depth == 0 &&
            (is_blank(c) || c == '"' || c == '\'' || c == ')' || c == '\\' || c == '\r' || c == ';')) {
            break;
        }
        depth -= c == '}' || c == ')' ? 1 : 0;
    }
    return at;
}

std::size_t words_in(const std::string& text)
{
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        count += !is_blank(text[i]) && (i == 0 || is_blank(text[i - 1])) ? 1 : 0;
    }
    return count;
}

/// The value behind a name, of so many words.
void find_value(const std::string& text, std::size_t words, FoundSetting& found)
{
    std::size_t at = found.name_end;
    while (at < text.size() && (is_blank(text[at]) || text[at] == '=')) {
        ++at;
    }
    found.value_begin = at;
    found.end = word_end(text, at);
    for (std::size_t k = 1; k < words && found.end < text.size() && is_blank(text[found.end]); ++k) {
        if (text[found.value_begin] == '$') {
            break;  // a variable has all of them
        }
        found.end = word_end(text, text.find_first_not_of(" \t", found.end));
    }
}

constexpr std::size_t farthest_word = 8000;  // characters of an array

/// "--name value" or "name=value" from a line on; an array or a quoted text has the line of its beginning.
std::optional<FoundSetting> find_word(const std::string& text, std::size_t from, const ImportedValue& value)
{
    const std::string name = plain(value.name);
    for (std::size_t at = from; at < std::min(text.size(), from + farthest_word); ++at) {
        if (!in_name(text[at]) || (at > 0 && in_name(text[at - 1]))) {
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && in_name(text[end])) {
            ++end;
        }
        std::string word = plain(text.substr(at, end - at));
        const bool dashes = word.starts_with("__");
        if (dashes) {
            word = word.substr(2);
        }
        const bool assigned = end < text.size() && text[end] == '=';
        if (word == name && (dashes || assigned)) {
            FoundSetting found{0, dashes ? Style::option : Style::assignment, at, end, end, end};
            if (!value.value.empty()) {
                find_value(text, words_in(value.value), found);
            }
            return found;
        }
        at = end;
    }
    return std::nullopt;
}

/// "name: value" or "name = value", alone in its line.
std::optional<FoundSetting> find_entry(const std::string& text, std::size_t from, const ImportedValue& value)
{
    const std::string name = value.name.substr(value.name.find_last_of('.') + 1);
    std::size_t at = from;
    while (at < text.size() && is_blank(text[at])) {
        ++at;
    }
    if (text.compare(at, name.size(), name) != 0) {
        return std::nullopt;
    }
    FoundSetting found{0, Style::entry, at, at + name.size(), 0, 0};
    at = text.find_first_not_of(" \t", found.name_end);
    if (at == std::string::npos || (text[at] != ':' && text[at] != '=')) {
        return std::nullopt;
    }
    at = std::min(text.find_first_not_of(" \t", at + 1), text.size());
    found.value_begin = at;
    const std::size_t line = std::min(text.find('\n', at), text.size());
    found.end = std::min(text.find(" #", at), line);
    while (found.end > at && (is_blank(text[found.end - 1]) || text[found.end - 1] == '\r')) {
        --found.end;
    }
    return found.end > found.value_begin ? std::optional(found) : std::nullopt;
}

/// "\"name\": value" of JSON within a line: behind the name of the object that has it, if that is there, too.
std::optional<FoundSetting> find_member(const std::string& text, std::size_t from, const ImportedValue& value)
{
    const std::size_t line_end = std::min(text.find('\n', from), text.size());
    const std::size_t dot = value.name.find_last_of('.');
    const auto quoted = [](const std::string& name) { return '"' + name + '"'; };
    std::size_t at = from;
    if (dot != std::string::npos && dot > 0) {
        const std::size_t before = value.name.find_last_of('.', dot - 1);
        const std::size_t begin = before == std::string::npos ? 0 : before + 1;
        const std::size_t object = text.find(quoted(value.name.substr(begin, dot - begin)), from);
        at = object < line_end ? object + 1 : from;
    }
    const std::string name = quoted(value.name.substr(dot == std::string::npos ? 0 : dot + 1));
    at = text.find(name, at);
    if (at >= line_end) {
        return std::nullopt;
    }
    FoundSetting found{0, Style::member, at, at + name.size(), 0, 0};
    found.value_begin = text.find_first_not_of(" \t:", found.name_end);
    if (found.value_begin >= line_end) {
        return std::nullopt;
    }
    const bool in_quotes = text[found.value_begin] == '"';
    found.value_begin += in_quotes ? 1 : 0;
    found.end = std::min(text.find_first_of(in_quotes ? "\"" : ",} \t\r", found.value_begin), line_end);
    const bool is_value = text.compare(found.value_begin, found.end - found.value_begin, value.value) == 0;
    return is_value ? std::optional(found) : std::nullopt;
}

/// The only option of this name in the files: a command in a quoted text, as of bash -c, has the line of its
/// program, wherever the array with the option stands.
std::optional<FoundSetting> find_only(const std::vector<JobFile>& files, const ImportedValue& value)
{
    std::optional<FoundSetting> only;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const std::string& text = files[i].text;
        for (std::size_t at = 0; at < text.size();) {
            const auto found = find_word(text, at, value);
            if (!found) {
                at += farthest_word;
                continue;
            }
            at = found->name_end;
            const std::size_t line = found->begin == 0 ? 0 : text.rfind('\n', found->begin - 1) + 1;
            const bool comment = text.substr(line, found->begin - line).find('#') != std::string::npos;
            if (found->style != Style::option || comment) {
                continue;
            }
            if (only) {
                return std::nullopt;
            }
            only = found;
            only->file = i;
        }
    }
    return only;
}

/// A setting at the place that the import reports.
std::optional<FoundSetting> find_at_place(const std::vector<JobFile>& files, const ImportedValue& value)
{
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&value](const JobFile& each) { return each.path == value.place.file; });
    if (file == files.end() || value.place.line < 1) {
        return std::nullopt;
    }
    const std::size_t from = line_begin(file->text, value.place.line);
    if (from == std::string::npos) {
        return std::nullopt;
    }
    auto found = find_entry(file->text, from, value);
    if (!found) {
        found = find_word(file->text, from, value);
    }
    if (!found) {
        found = find_member(file->text, from, value);
    }
    if (found) {
        found->file = static_cast<std::size_t>(file - files.begin());
    }
    return found;
}

std::optional<FoundSetting> find_setting(const std::vector<JobFile>& files, const ImportedValue& value)
{
    auto found = find_at_place(files, value);
    if (!found && value.place.line > 0) {
        found = find_only(files, value);
    }
    return found;
}

/// A range of a file, and what it becomes.
struct Edit {
    std::size_t file = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text;
    bool removes = false;  // a whole setting
};

/// The name in "$NAME" or "${NAME}", also in quotes; empty: it is none.
std::string variable_of(std::string word)
{
    if (word.size() > 1 && word.front() == '"' && word.back() == '"') {
        word = word.substr(1, word.size() - 2);
    }
    if (!word.starts_with('$')) {
        return "";
    }
    word.erase(0, 1);
    if (word.starts_with('{') && word.ends_with('}')) {
        word = word.substr(1, word.size() - 2);
    }
    const bool is_name = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    });
    return is_name ? word : "";
}

/// Positions of a name as a whole word.
std::vector<std::size_t> uses_of(const std::string& text, const std::string& name)
{
    std::vector<std::size_t> places;
    const auto in_word = [&text](std::size_t at) {
        return at < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        if ((at == 0 || !in_word(at - 1)) && !in_word(at + name.size())) {
            places.push_back(at);
        }
    }
    return places;
}

/// The value of a variable that is assigned once and used once, and not elsewhere: "4"
/// of TP=4, TP="4" or TP=${TP:-4}.
std::optional<Edit> edit_of_variable(const std::vector<JobFile>& files, const FoundSetting& setting,
                                     const std::string& name, const std::string& value)
{
    const std::string& text = files[setting.file].text;
    std::optional<Edit> edit;
    for (const JobFile& file : files) {
        for (const std::size_t at : uses_of(file.text, name)) {
            const bool is_option = &file.text == &text && at >= setting.value_begin && at < setting.end;
            const bool in_own_value = edit && &file.text == &text && at >= edit->begin && at < edit->end;
            const std::size_t line = at == 0 ? 0 : file.text.rfind('\n', at - 1) + 1;
            const std::string before = file.text.substr(line, at - line);
            const bool comment = before.find('#') != std::string::npos;
            if (is_option || in_own_value || comment) {
                continue;
            }
            const bool assigns = file.text[std::min(at + name.size(), file.text.size() - 1)] == '=';
            const bool first = before.find_first_not_of(" \t") == std::string::npos || before == "export ";
            if (&file.text != &text || !assigns || !first || edit) {
                return std::nullopt;
            }
            const std::size_t begin = at + name.size() + 1;
            edit = Edit{setting.file, begin, word_end(text, begin), value};
        }
    }
    if (!edit) {
        return std::nullopt;
    }
    const std::string now = text.substr(edit->begin, edit->end - edit->begin);
    const std::size_t usual = now.find(":-");
    if (now.starts_with("${") && now.ends_with('}') && usual != std::string::npos) {
        edit->begin += usual + 2;
        edit->end -= 1;
    } else if (now.find('$') != std::string::npos) {
        return std::nullopt;
    }
    return edit;
}

std::string written(const WantedSetting& setting, Style style, char separator)
{
    switch (style) {
        case Style::option: return "--" + setting.name + (setting.value.empty() ? "" : " " + setting.value);
        case Style::assignment: return setting.name + "=" + setting.value;
        case Style::entry:
        case Style::member: break;
    }
    const std::string name = setting.name.substr(setting.name.find_last_of('.') + 1);
    return name + (separator == ':' ? ": " : " = ") + setting.value;
}

/// The line without a setting that was its only one is removed, and so is the "\" that then leads nowhere.
void remove_setting(std::string& text, std::size_t begin, std::size_t end)
{
    const std::size_t line = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;
    const std::size_t line_end = std::min(text.find('\n', end), text.size());
    const std::string before = text.substr(line, begin - line);
    std::string after = text.substr(end, line_end - end);
    const bool continues = after.find_last_not_of(" \t\r") != std::string::npos &&
                           after[after.find_last_not_of(" \t\r")] == '\\';
    const bool alone = before.find_first_not_of(" \t") == std::string::npos &&
                       (after.find_first_not_of(" \t\r") == std::string::npos ||
                        after.find_first_not_of(" \t\r\\") == std::string::npos);
    if (!alone) {
        const std::size_t blank = begin > line && is_blank(text[begin - 1]) ? 1 : 0;
        text.erase(begin - blank, end - begin + blank);
        return;
    }
    text.erase(line, std::min(line_end + 1, text.size()) - line);
    if (!continues && line > 1) {
        std::size_t last = text.find_last_not_of(" \t\r", line - 2);
        if (last != std::string::npos && text[last] == '\\') {
            text.erase(last, 1);
            while (last > 0 && is_blank(text[last - 1])) {
                text.erase(--last, 1);
            }
        }
    }
}

/// Text that stands behind a setting: in a line of its own where the setting has one.
Edit added_behind(const std::string& text, const FoundSetting& anchor, const std::string& added)
{
    const std::size_t line = anchor.begin == 0 ? 0 : text.rfind('\n', anchor.begin - 1) + 1;
    const std::size_t line_end = std::min(text.find('\n', anchor.end), text.size());
    const std::string indent = text.substr(line, anchor.begin - line);
    const std::string after = text.substr(anchor.end, line_end - anchor.end);
    const bool alone = indent.find_first_not_of(" \t") == std::string::npos;
    if (alone && anchor.style == Style::entry) {
        return {anchor.file, line_end, line_end, "\n" + indent + added};
    }
    if (alone && after.find_first_not_of(" \t\\\r") == std::string::npos) {
        const bool last_of_command =
            after.find('\\') == std::string::npos && line > 1 && text[line - 2] == '\\';
        return {anchor.file, anchor.end, anchor.end,
                (last_of_command ? " \\" : after) + "\n" + indent + added};
    }
    return {anchor.file, anchor.end, anchor.end, " " + added};
}

std::vector<JobFile> applied(std::vector<JobFile> files, std::vector<Edit> edits)
{
    std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
        // From the end, so that places before stay.
        return std::pair(a.file, a.begin) > std::pair(b.file, b.begin);
    });
    for (const Edit& edit : edits) {
        std::string& text = files[edit.file].text;
        if (edit.removes) {
            remove_setting(text, edit.begin, edit.end);
        } else {
            text.replace(edit.begin, edit.end - edit.begin, edit.text);
        }
    }
    return files;
}

char separator_of(const std::string& text, const FoundSetting& found)
{
    return text.substr(found.name_end, found.value_begin - found.name_end).find(':') == std::string::npos
               ? '='
               : ':';
}

std::string section_of(const std::string& name)
{
    const std::size_t dot = name.find_last_of('.');
    return dot == std::string::npos ? "" : name.substr(0, dot);
}

/// What is changed in the files of a job, and to what.
struct JobChanges {
    const std::vector<JobFile>& files;
    const std::vector<ImportedValue>& read;
    const std::vector<WantedSetting>& wanted;
    const std::set<std::string>& keys;

    /// The place of the wanted setting of this name; their number: none has it.
    std::size_t wanted_as(const ImportedValue& value) const
    {
        const auto same = std::find_if(wanted.begin(), wanted.end(), [&value](const WantedSetting& setting) {
            return plain(setting.name) == plain(value.name);
        });
        return static_cast<std::size_t>(same - wanted.begin());
    }
};

/// Edits so far, and which wanted settings they write.
struct JobEdits {
    std::vector<Edit> edits;
    std::vector<bool> placed;  // [wanted]
};

/// Edits values where they stand. Returns whether all of them were found.
bool change_values(const JobChanges& of, JobEdits& done)
{
    for (const ImportedValue& value : of.read) {
        const std::size_t k = of.keys.contains(value.key) ? of.wanted_as(value) : of.wanted.size();
        if (k == of.wanted.size()) {
            continue;
        }
        done.placed[k] = true;
        const std::string& wanted = of.wanted[k].value;
        if (wanted == value.value) {
            continue;
        }
        const auto found = find_setting(of.files, value);
        if (!found || wanted.empty()) {
            return false;
        }
        const std::string& text = of.files[found->file].text;
        const std::string variable =
            variable_of(text.substr(found->value_begin, found->end - found->value_begin));
        const auto of_variable =
            variable.empty() ? std::nullopt : edit_of_variable(of.files, *found, variable, wanted);
        done.edits.push_back(of_variable.value_or(Edit{found->file, found->value_begin, found->end, wanted}));
    }
    return true;
}

/// Replaces what no wanted setting keeps by the settings of its key, or removes it.
/// Returns whether all of it was found.
bool replace_others(const JobChanges& of, JobEdits& done)
{
    for (const ImportedValue& value : of.read) {
        if (!of.keys.contains(value.key) || of.wanted_as(value) != of.wanted.size()) {
            continue;
        }
        const auto found = find_setting(of.files, value);
        if (!found || found->style == Style::member) {  // whose comma would stay
            return false;
        }
        const bool entry = found->style == Style::entry;
        std::string text;
        for (std::size_t k = 0; k < of.wanted.size(); ++k) {
            const WantedSetting& setting = of.wanted[k];
            const bool in_section = !entry || section_of(setting.name) == section_of(value.name);
            const bool replaces = !done.placed[k] && !setting.usual && setting.key == value.key && in_section;
            if (replaces && (!entry || text.empty())) {
                done.placed[k] = true;
                text += (text.empty() ? "" : " ") +
                        written(setting, found->style, separator_of(of.files[found->file].text, *found));
            }
        }
        done.edits.push_back({found->file, found->begin, found->end, text, text.empty()});
    }
    return true;
}

/// The last setting that stays and behind which another can be written.
std::optional<FoundSetting> anchor_of(const JobChanges& of, const WantedSetting& wanted,
                                      const std::vector<Edit>& edits)
{
    for (auto value = of.read.rbegin(); value != of.read.rend(); ++value) {
        const auto found = find_setting(of.files, *value);
        const bool is_anchor = found && found->style != Style::member;
        const bool stays = is_anchor && std::none_of(edits.begin(), edits.end(), [&found](const Edit& edit) {
                               return edit.removes && edit.file == found->file && edit.begin == found->begin;
                           });
        if (stays && (found->style != Style::entry || section_of(value->name) == section_of(wanted.name))) {
            return found;
        }
    }
    return std::nullopt;
}

/// Adds wanted settings that are not in the files. Returns whether each has a place.
bool add_new(const JobChanges& of, JobEdits& done)
{
    for (std::size_t k = 0; k < of.wanted.size(); ++k) {
        const WantedSetting& setting = of.wanted[k];
        if (done.placed[k] || setting.usual || !of.keys.contains(setting.key)) {
            continue;
        }
        const auto anchor = anchor_of(of, setting, done.edits);
        if (!anchor) {
            return false;
        }
        const std::string& text = of.files[anchor->file].text;
        done.edits.push_back(
            added_behind(text, *anchor, written(setting, anchor->style, separator_of(text, *anchor))));
    }
    return true;
}

}  // namespace

std::optional<std::vector<JobFile>> with_settings(const std::vector<JobFile>& files,
                                                  const std::vector<ImportedValue>& read,
                                                  const std::vector<WantedSetting>& wanted,
                                                  const std::set<std::string>& keys)
{
    const JobChanges changes{files, read, wanted, keys};
    JobEdits done{.edits = {}, .placed = std::vector<bool>(wanted.size(), false)};
    const bool all = change_values(changes, done) && replace_others(changes, done) && add_new(changes, done);
    return all ? std::optional(applied(files, std::move(done.edits))) : std::nullopt;
}

std::vector<VariableValue> variable_values(const std::vector<JobFile>& files, const std::string& name)
{
    std::vector<VariableValue> values;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const std::string& text = files[i].text;
        for (const std::size_t at : uses_of(text, name)) {
            const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
            const bool comment = text.substr(line, at - line).find('#') != std::string::npos;
            const bool expansion = at > 0 && text[at - 1] == '$';
            const std::size_t behind = at + name.size();
            const std::size_t begin = std::min(text.find_first_not_of("\"'] \t=:-", behind), text.size());
            const bool assigns = text.substr(behind, begin - behind).find_first_of("=:") != std::string::npos;
            const std::size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
            if (!comment && !expansion && assigns && end > begin) {
                values.push_back({i, begin, text.substr(begin, end - begin)});
            }
        }
    }
    return values;
}

std::vector<JobFile> with_variable(std::vector<JobFile> files, const std::vector<VariableValue>& places,
                                   const std::string& value)
{
    std::vector<Edit> edits;
    edits.reserve(places.size());
    for (const VariableValue& place : places) {
        edits.push_back({place.file, place.begin, place.begin + place.value.size(), value});
    }
    return applied(std::move(files), std::move(edits));
}

}  // namespace prismopt
