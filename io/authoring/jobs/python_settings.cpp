#include "io/authoring/jobs/python_settings.hpp"

#include "io/authoring/shell/shell_script.hpp"
#include "io/toml/toml.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace prismopt {

namespace {

/// Classes of torchtitan, and the sections that they configure (torchtitan/config/configs.py).
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> sections{
    {{"TrainingConfig", "training"},
     {"ParallelismConfig", "parallelism"},
     {"CompileConfig", "compile"},
     {"CheckpointConfig", "checkpoint"},
     {"Training", "training"},
     {"Parallelism", "parallelism"}}};

/// Constants of Python, as JSON spells them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> python_constants{
    {{"True", "true"}, {"False", "false"}, {"None", "null"}}};

struct Assignment {
    std::string name;   // "config.training.steps", or an argument of a call
    std::string value;  // up to the end of the statement, or the next argument
    std::string call;   // the function whose argument it is; empty: none
    int line = 0;
};

bool in_identifier(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

std::string trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first == std::string_view::npos
               ? ""
               : std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

/// The text without comments; strings stay.
std::string without_comments(const std::string& text)
{
    std::string plain;
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote == '\0' && c == '#') {
            i = std::min(text.find('\n', i), text.size()) - 1;
            continue;
        }
        if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote || c == '\n') {
            quote = '\0';
        }
        plain += c;
    }
    return plain;
}

/// The assignments of a text, those inside calls as arguments of the nearest call.
std::vector<Assignment> assignments_of(const std::string& text)
{
    constexpr std::size_t most = 10'000;
    std::vector<Assignment> all;
    std::vector<std::string> calls;  // open parentheses, with what is called
    std::string word;
    int line = 1;
    std::vector<std::size_t> open;  // assignments whose value goes on, by depth of parentheses
    std::vector<std::size_t> depth_of;
    for (std::size_t i = 0; i < text.size() && all.size() < most; ++i) {
        const char c = text[i];
        line += c == '\n' ? 1 : 0;
        const bool ends = (c == ',' || c == ')') || (c == '\n' && calls.empty());
        if (ends) {
            while (!open.empty() && depth_of.back() >= calls.size()) {
                open.pop_back();
                depth_of.pop_back();
            }
        }
        if (c == '(') {
            calls.push_back(word);
        } else if (c == ')' && !calls.empty()) {
            calls.pop_back();
        }
        const bool equal = c == '=' && i + 1 < text.size() && text[i + 1] != '=' && !word.empty() && i > 0 &&
                           text[i - 1] != '=';
        for (const std::size_t at : open) {
            all[at].value += c;
        }
        if (equal) {
            all.push_back({word, "", calls.empty() ? "" : calls.back(), line});
            open.push_back(all.size() - 1);
            depth_of.push_back(calls.size());
            word.clear();
        } else if (in_identifier(c)) {
            word += c;
        } else if (c != ' ') {
            word.clear();
        }
    }
    return all;
}

/// A literal, a constant, or a product of such; nothing: something else.
std::optional<std::string> literal(const std::string& value,
                                   const std::map<std::string, ShellValue>& constants)
{
    for (const auto& [constant, json] : python_constants) {
        if (value == constant) {
            return std::string(json);
        }
    }
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front()) {
        return value.substr(1, value.size() - 2);
    }
    std::string number = value;
    std::erase(number, '_');
    std::vector<std::string> missing;
    if (const auto product = shell_arithmetic(number, constants, missing)) {
        return std::to_string(*product);
    }
    return std::nullopt;
}

/// The mode of activation checkpointing, by the class that is assigned to it.
std::string checkpoint_mode(const std::string& value)
{
    if (value.starts_with("Full")) {
        return "full";
    }
    return value == "None" ? "none" : "selective";
}

}  // namespace

JobSettingList python_settings(const std::string& text, const std::string& path)
{
    JobSettingList settings;
    std::map<std::string, ShellValue> constants;
    for (const Assignment& a : assignments_of(without_comments(text))) {
        const std::string value = trimmed(a.value);
        std::string name = a.name;
        if (!a.call.empty()) {
            const auto* const section =
                std::find_if(sections.begin(), sections.end(),
                             [&a](const auto& known) { return a.call.ends_with(known.first); });
            if (section == sections.end()) {
                continue;
            }
            name = std::string(section->second) + "." + a.name;
        } else if (name.starts_with("config.")) {
            name = name.substr(7);
        } else {
            if (const auto constant = literal(value, {})) {
                constants[name] = {shell_word_of(*constant)};
            } else if (value.ends_with("()") && value.find('.') == std::string::npos) {
                settings.push_back(
                    {"recipe_function", {value.substr(0, value.size() - 2)}, {}, {path, a.line}});
            }
            continue;
        }
        if (name.find('.') == std::string::npos && name != "activation_checkpoint") {
            continue;  // a section, whose fields are read
        }
        if (name == "activation_checkpoint") {
            settings.push_back({"activation_checkpoint.mode", {checkpoint_mode(value)}, {}, {path, a.line}});
            continue;
        }
        JobSetting setting{name, {}, {}, {path, a.line}};
        if (const auto known = literal(value, constants)) {
            setting.values.push_back(*known);
        } else {
            setting.missing.push_back(printable(value));
        }
        settings.push_back(std::move(setting));
    }
    return settings;
}

}  // namespace prismopt
