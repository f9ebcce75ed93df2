#pragma once

/// A TOML file as a tree with line numbers, and typed views that refuse invalid values. Every refusal is an
/// InputError `path:line: key = value <problem> (<why>); <remedy>`.

#include "io/toml/quantity.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prismopt {

struct TomlNode {
    enum class Kind { text, integer, number, boolean, list, table, date, other };

    Kind kind = Kind::table;
    int line = 1;
    std::string key;    // of a list's element: the list's
    std::string shown;  // the value as shown in messages: numbers as written in the file
    std::string text;   // of a date too
    std::int64_t integer = 0;
    double number = 0.0;  // of an integer too
    bool boolean = false;
    std::vector<TomlNode> children;  // of a list in order; of a table by name
};

class Catalog;

struct TomlFile {
    std::string path;  // for messages
    TomlNode root;
    std::shared_ptr<const Catalog> catalog{};  // to which its names refer; null: that of the program

    /// Throws InputError `path:line: reason; remedy`.
    [[noreturn]] void refuse(int line, const std::string& reason, const std::string& remedy) const;
};

/// Text prepared for a message: without control characters, truncated to `most`.
std::string printable(std::string text, std::size_t most = 60);

/// Throws InputError when `text` is not valid TOML. `lines_before`: lines of the text that are not in the
/// file, which messages do not count.
TomlFile parse_toml(std::string_view text, const std::string& path, int lines_before = 0);

/// The text with another value of a key: "cluster.gpus", or "phase[1].tokens" for the second table of
/// [[phase]]. The value is written as in the file: 128, "\"450 GB/s\"", [1, 2]. Adds the key to its
/// section, and the section to the end, where there is none. All other lines stay as they are. Throws
/// InputError if that gives no valid TOML.
std::string with_value(const std::string& text, const std::string& path, const std::string& key,
                       const std::string& value);

/// Valid numbers of a key: their meaning, the interval and an example.
struct Range {
    std::string_view meaning;
    double low = 0.0;
    double high = 0.0;
    std::string_view example;
    enum class Ends { closed, open_low, open_high } ends = Ends::closed;

    bool contains(double value) const;
    std::string interval() const;  // "[0, 1)"
};

/// Whether a quantity may be zero or negative.
enum class Sign { positive, zero_or_more, any };

/// Whether keys may be absent: a catalog entry must be complete, an override
/// changes only the keys that it names.
enum class Keys { all, some };

class Table;

/// One value of a file. The file must outlive it.
class Value {
public:
    /// `owner`: what the key belongs to, named in messages; empty: the line says it.
    Value(const TomlNode& node, const TomlFile& file, std::string owner = "")
        : node_(&node), file_(&file), owner_(std::move(owner))
    {
    }

    std::string text(std::string_view example) const;  // not empty, of one line: without control characters
    std::string document(std::string_view example) const;  // not empty: a file that the scenario contains
    bool boolean() const;
    std::int64_t integer(const Range& range) const;
    int count(const Range& range) const;       // an integer in a range of `int`
    double number(const Range& range) const;   // an integer is accepted, too
    double amount(const Range& range) const;   // a number, or a string with an SI suffix such as "15T"
    double dollars(const Range& range) const;  // a number, or a string such as "40 M USD"
    std::chrono::sys_days date() const;        // 2027-01-15, with or without quotes
    std::vector<Value> list(std::string_view example) const;  // not empty
    bool is_table() const { return node_->kind == TomlNode::Kind::table; }
    bool is_list() const { return node_->kind == TomlNode::Kind::list; }
    bool is_empty_list() const { return is_list() && node_->children.empty(); }
    bool is_text() const { return node_->kind == TomlNode::Kind::text; }
    int line() const { return node_->line; }
    /// The catalog to which names of the file refer.
    const Catalog& catalog() const;
    Table table(std::string_view example) const;
    /// One of `names`; `why` describes them, `otherwise` is a remedy if none of them fits.
    std::string choice(const std::vector<std::string>& names, std::string_view why,
                       std::string_view otherwise = "") const;
    template <class Q>
    Q quantity(std::string_view example, Sign sign = Sign::positive) const
    {
        return Q{si(dimension_of(Q{}), example, sign)};
    }

    [[noreturn]] void fail(const Complaint& complaint) const;

private:
    double si(Dimension dimension, std::string_view example, Sign sign) const;
    [[noreturn]] void wrong_type(std::string_view why, std::string_view example) const;
    double in_range(const Range& range) const;
    double parsed_number(const std::variant<double, Complaint>& parsed, const Range& range) const;

    const TomlNode* node_;
    const TomlFile* file_;
    std::string owner_;
};

/// One table of a file. It records the keys that were requested: those are the known keys.
class Table {
public:
    Table(const TomlNode& node, const TomlFile& file) : node_(&node), file_(&file) {}

    std::optional<Value> find(std::string_view key);
    /// `example` is a valid line or section, shown when the key is absent.
    Value at(std::string_view key, std::string_view example);
    std::optional<Value> find(std::string_view key, Keys keys, std::string_view example);
    Table section(std::string_view key, std::string_view example);

    std::vector<std::string> keys() const;
    /// The catalog to which names of the file refer.
    const Catalog& catalog() const;
    /// Throws InputError for the first key, in the order of lines, that was never requested.
    void refuse_unknown_keys() const;
    [[noreturn]] void fail(const Complaint& complaint) const;
    /// Sets what messages call the table, instead of its heading; they then name it beside its keys as well.
    void call(std::string subject) { subject_ = std::move(subject); }

private:
    [[noreturn]] void unknown(const TomlNode& child, const std::vector<std::string>& known) const;

    const TomlNode* node_;
    const TomlFile* file_;
    std::vector<std::string> known_;
    std::string subject_;
};

}  // namespace prismopt
