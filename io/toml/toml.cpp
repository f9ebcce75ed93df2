#include "io/toml/toml.hpp"

#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"
#include "io/toml/key_nesting.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <optional>

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
            const std::string_view line = text.substr(0, end);
            lines_.push_back({line, std::all_of(line.begin(), line.end(),
                                                [](char c) { return static_cast<signed char>(c) >= 0; })});
            text.remove_prefix(end);
        }
    }

    /// The number or day that begins there, as it is written.
    std::string value_at(const toml::source_position& place) const
    {
        if (place.line < 1 || place.line > lines_.size()) {
            return "";
        }
        std::string_view line = lines_[place.line - 1].text;
        line.remove_prefix(std::min(byte_at(lines_[place.line - 1], place.column), line.size()));
        return std::string(line.substr(0, line.find_first_of(" \t\r\n,]}#")));
    }

private:
    struct Line {
        std::string_view text;
        bool ascii = true;
    };

    /// The byte of a line at a column; columns are code points. Lists of the catalog
    /// have thousands of values a line.
    static std::size_t byte_at(const Line& line, toml::source_index column)
    {
        std::size_t at = column - 1;
        if (!line.ascii) {
            at = 0;
            for (toml::source_index before = 1; before < column && at < line.text.size(); ++before) {
                ++at;
                while (at < line.text.size() &&
                       (static_cast<unsigned char>(line.text[at]) & 0xc0U) == 0x80U) {
                    ++at;
                }
            }
        }
        return at;
    }

    std::vector<Line> lines_;
};

/// Quoted keys may have escapes, and names of layers or accelerators are keys.
void refuse_controls_in_key(const TomlFile& file, const TomlNode& node)
{
    if (const std::size_t control = find_control(node.key); control != std::string::npos) {
        file.refuse(
            node.line,
            fmt::format("key \"{}\" contains the control character {} (keys are names of one line, which "
                        "reports and scripts repeat)",
                        printable(escape_controls(node.key)), control_name(node.key, control)),
            "remove it");
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

TomlNode converted(const toml::node& source, const std::string& key, int parent_line, const Lines& lines,
                   const TomlFile& file)
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

/// The byte at a place of a text; columns are code points.
std::size_t offset_of(std::string_view text, const toml::source_position& place)
{
    std::size_t at = 0;
    for (toml::source_index line = 1; line < place.line; ++line) {
        at = std::min(text.find('\n', at), text.size() - 1) + 1;
    }
    for (toml::source_index column = 1; column < place.column && at < text.size(); ++column) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) {
            ++at;
        }
    }
    return at;
}

/// A word of a path of keys: "phase[1]".
struct KeyWord {
    std::string name;
    std::optional<std::size_t> element;
};

std::vector<KeyWord> words_of_key(const std::string& key)
{
    std::vector<KeyWord> words;
    std::size_t begin = 0;
    while (begin <= key.size()) {
        const std::size_t end = std::min(key.find('.', begin), key.size());
        KeyWord word{key.substr(begin, end - begin), {}};
        const std::size_t bracket = word.name.find('[');
        if (bracket != std::string::npos) {
            std::size_t element = 0;
            const char* const last = word.name.data() + word.name.size();
            const auto [rest, error] = std::from_chars(word.name.data() + bracket + 1, last, element);
            if (error == std::errc{} && rest + 1 == last && *rest == ']') {
                word.name.resize(bracket);
                word.element = element;
            }
        }
        if (word.name.empty() || word.name.find_first_of("[]\"' \t\n") != std::string::npos) {
            throw InputError(
                {}, fmt::format("'{}' is not the path of a key", printable(key)),
                "write for example cluster.gpus, or phase[1].tokens for the second table of [[phase]]");
        }
        words.push_back(std::move(word));
        begin = end + 1;
    }
    return words;
}

/// What the word names in a table; null: nothing.
const toml::node* node_at(const toml::table& table, const KeyWord& word)
{
    const toml::node* node = table.get(word.name);
    if (word.element && node != nullptr) {
        const toml::array* list = node->as_array();
        return list != nullptr && *word.element < list->size() ? list->get(*word.element) : nullptr;
    }
    return node;
}

/// The innermost table on the way to a key that the file has, and the number of words that lead there.
struct KeySection {
    const toml::table* table = nullptr;
    std::size_t depth = 0;
};

KeySection section_of(const toml::table& top, const std::vector<KeyWord>& words)
{
    KeySection section{&top, 0};
    while (section.depth + 1 < words.size()) {
        const toml::node* next = node_at(*section.table, words[section.depth]);
        if (next == nullptr || !next->is_table()) {
            break;
        }
        section = {next->as_table(), section.depth + 1};
    }
    return section;
}

/// Whether a text is valid TOML and has the key.
bool has_key(const std::string& text, const std::vector<KeyWord>& words)
{
    try {
        const toml::table top = toml::parse(text);
        const KeySection section = section_of(top, words);
        return section.depth + 1 == words.size() && node_at(*section.table, words.back()) != nullptr;
    } catch (const toml::parse_error&) {
        return false;
    }
}

/// The text with a new key, in its section or in one at the end.
std::string with_new_key(const std::string& text, const toml::table& top, const std::vector<KeyWord>& words,
                         const std::string& line)
{
    const KeySection section = section_of(top, words);
    if (section.depth + 1 < words.size()) {
        std::string header;
        for (std::size_t i = 0; i + 1 < words.size(); ++i) {
            header += (i == 0 ? "" : ".") + words[i].name;
        }
        return fmt::format("{}{}\n[{}]\n{}", text, text.ends_with('\n') ? "" : "\n", header, line);
    }
    std::size_t at = 0;  // of keys of the whole file
    if (section.depth > 0) {
        at = std::min(text.find('\n', offset_of(text, section.table->source().begin)), text.size() - 1) + 1;
    }
    const char* const before = at > 0 && text[at - 1] != '\n' ? "\n" : "";
    return text.substr(0, at) + before + line + text.substr(at);
}

/// What to do about a text that is not TOML.
std::string remedy_of(const toml::parse_error& error)
{
    if (error.description().find("parsing date") != std::string_view::npos) {
        return "write a day of the calendar, as in start = 2027-01-15";
    }
    return "correct the line: strings and quantities need quotes, as in bandwidth = \"450 GB/s\", a key may "
           "appear only once, and quotes and brackets must be closed";
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

void TomlFile::refuse(int line, const std::string& reason, const std::string& remedy) const
{
    throw InputError({path, line}, reason, remedy);
}

TomlFile parse_toml(std::string_view text, const std::string& path, int lines_before)
{
    TomlFile file{path, {}};
    if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
        const auto line =
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
        file.refuse(static_cast<int>(line), "the file is binary (it contains a zero byte)",
                    "give a scenario in TOML");
    }
    if (const KeyNesting deepest = deepest_key(text); deepest.levels > most_levels) {
        file.refuse(
            deepest.line,
            fmt::format("the keys and brackets that are open here are nested more than {} levels deep (no "
                        "file needs more than ten)",
                        most_levels),
            "correct the key, or close the brackets");
    }
    try {
        file.root = converted(toml::parse(text, path), "", 1, Lines(text), file);
        count_from(file.root, lines_before);
    } catch (const toml::parse_error& error) {
        const int line = error.source().begin ? static_cast<int>(error.source().begin.line) : 1;
        file.refuse(std::max(1, line - lines_before),
                    fmt::format("{} is not valid TOML ({})", line_of(text, line),
                                printable(std::string(error.description()), 200)),
                    remedy_of(error));
    }
    return file;
}

std::string with_value(const std::string& text, const std::string& path, const std::string& key,
                       const std::string& value)
{
    parse_toml(text, path);
    const std::vector<KeyWord> words = words_of_key(key);
    const std::string line = fmt::format("{} = {}\n", words.back().name, value);
    const auto refuse = [&](const std::string& why, const std::string& remedy) {
        throw InputError({path, 0}, fmt::format("{} = {} {}", key, printable(value), why), remedy);
    };
    try {
        if (toml::parse(line).size() != 1) {
            refuse("is more than one value", "change one key at a time");
        }
    } catch (const toml::parse_error& error) {
        refuse(fmt::format("is not valid TOML ({})", printable(std::string(error.description()), 200)),
               "write a value as in the file: strings and quantities need quotes, as in \"450 GB/s\"");
    }
    const toml::table top = toml::parse(text);
    const KeySection section = section_of(top, words);
    const toml::node* old =
        section.depth + 1 == words.size() ? node_at(*section.table, words.back()) : nullptr;
    std::string changed;
    if (old == nullptr) {
        changed = with_new_key(text, top, words, line);
    } else {
        const std::size_t begin = offset_of(text, old->source().begin);
        changed = text.substr(0, begin) + value + text.substr(offset_of(text, old->source().end));
    }
    if (!has_key(changed, words)) {
        refuse("cannot be added, because the file has no section of this name with a header of its own",
               "write it in the file");
    }
    return changed;
}

}  // namespace prismopt
