#include "io/toml/toml.hpp"

#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"
#include "io/toml/key_nesting.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

namespace prismopt {

namespace {

using Kind = TomlNode::Kind;

/// The text of a file by line.
class Lines {
public:
    explicit Lines(std::string_view text)
    {
        while (!text.empty()) {
            const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
            lines_.push_back(text.substr(0, end));
            text.remove_prefix(end);
        }
    }

    /// The number or day that begins there, as it is written.
    std::string value_at(const toml::source_position& place) const
    {
        if (place.line < 1 || place.line > lines_.size()) {
            return "";
        }
        std::string_view line = lines_[place.line - 1];
        for (toml::source_index column = 1; column < place.column && !line.empty(); ++column) {  // columns are code points
            line.remove_prefix(1);
            while (!line.empty() && (static_cast<unsigned char>(line.front()) & 0xc0U) == 0x80U) {
                line.remove_prefix(1);
            }
        }
        return std::string(line.substr(0, line.find_first_of(" \t\r\n,]}#")));
    }

private:
    std::vector<std::string_view> lines_;
};

/// Quoted keys may have escapes, and names of layers or accelerators are keys.
void refuse_controls_in_key(const TomlFile& file, const TomlNode& node)
{
    if (const std::size_t control = find_control(node.key); control != std::string::npos) {
        file.refuse(node.line, fmt::format("key \"{}\" contains the control character {} (keys are names of one line, which "
                                           "reports and scripts repeat); remove it",
                                           printable(escape_controls(node.key)), control_name(node.key, control)));
    }
}

/// Counts the lines of the file alone, without those that its text has before.
void count_from(TomlNode& node, int lines_before)
{
    node.line = std::max(1, node.line - lines_before);
    for (TomlNode& child : node.children) {
        count_from(child, lines_before);
    }
}

TomlNode converted(const toml::node& source, const std::string& key, int parent_line, const Lines& lines, const TomlFile& file)
{
    TomlNode node;
    node.key = key;
    node.line = source.source().begin ? static_cast<int>(source.source().begin.line) : parent_line;
    if (const auto* text = source.as_string()) {
        node.kind = Kind::text;
        node.text = text->get();
        node.shown = printable(fmt::format("\"{}\"", escape_controls(node.text)));
    } else if (const auto* integer = source.as_integer()) {
        node.kind = Kind::integer;
        node.integer = integer->get();
        node.number = static_cast<double>(node.integer);
        node.shown = printable(lines.value_at(source.source().begin));
    } else if (const auto* number = source.as_floating_point()) {
        node.kind = Kind::number;
        node.number = number->get();
        node.shown = printable(lines.value_at(source.source().begin));
    } else if (const auto* boolean = source.as_boolean()) {
        node.kind = Kind::boolean;
        node.boolean = boolean->get();
        node.shown = node.boolean ? "true" : "false";
    } else if (const auto* list = source.as_array()) {
        node.kind = Kind::list;
        for (const toml::node& element : *list) {
            node.children.push_back(converted(element, key, node.line, lines, file));
            node.shown += (node.shown.empty() ? "" : ", ") + node.children.back().shown;
        }
        node.shown = printable("[" + node.shown + "]");
    } else if (const auto* table = source.as_table()) {
        for (const auto& [name, child] : *table) {
            node.children.push_back(converted(child, std::string(name.str()), node.line, lines, file));
        }
        node.shown = "{...}";
    } else if (source.is_date()) {
        node.kind = Kind::date;
        node.text = lines.value_at(source.source().begin);
        node.shown = node.text;
    } else {
        node.kind = Kind::other;
        node.shown = "(date or time)";
    }
    refuse_controls_in_key(file, node);
    return node;
}

/// The line of a text, without surrounding blanks.
std::string line_of(std::string_view text, int line)
{
    for (int i = 1; i < line && !text.empty(); ++i) {
        const auto end = text.find('\n');
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    text = text.substr(0, text.find_first_of("\r\n"));
    const auto first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? "" : printable(std::string(text.substr(first)));
}

}  // namespace

std::string printable(std::string text, std::size_t most)
{
    text = blank_controls(text);
    if (text.size() > most) {
        text.resize(most);
        text += "...";
    }
    return text;
}

void TomlFile::refuse(int line, const std::string& message) const
{
    throw InputError(fmt::format("{}:{}: {}", path, line, message));
}

TomlFile parse_toml(std::string_view text, const std::string& path, int lines_before)
{
    TomlFile file{path, {}};
    if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
        file.refuse(static_cast<int>(line), "the file is binary (it contains a zero byte); give a scenario in TOML");
    }
    if (const KeyNesting deepest = deepest_key(text); deepest.levels > most_levels) {
        file.refuse(deepest.line, fmt::format("the keys and brackets that are open here are nested more than {} levels deep (no "
                                              "file needs more than ten); correct the key, or close the brackets",
                                              most_levels));
    }
    try {
        file.root = converted(toml::parse(text, path), "", 1, Lines(text), file);
        count_from(file.root, lines_before);
    } catch (const toml::parse_error& error) {
        const int line = error.source().begin ? static_cast<int>(error.source().begin.line) : 1;
        file.refuse(std::max(1, line - lines_before),
                    fmt::format("{} is not valid TOML ({}); correct the line: strings and quantities need quotes, as in "
                                "bandwidth = \"450 GB/s\", a key may appear only once, and quotes and brackets must be closed",
                                line_of(text, line), printable(std::string(error.description()), 200)));
    }
    return file;
}

}  // namespace prismopt
