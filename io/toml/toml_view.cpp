#include "io/base/control_characters.hpp"
#include "io/toml/catalog.hpp"
#include "io/toml/date.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

using Kind = TomlNode::Kind;

std::string_view type_name(Kind kind)
{
    switch (kind) {
        case Kind::text: return "a string";
        case Kind::integer: return "an integer";
        case Kind::number: return "a floating-point number";
        case Kind::boolean: return "a boolean";
        case Kind::list: return "an array";
        case Kind::table: return "a table";
        case Kind::date: return "a date";
        case Kind::other: return "a time of day";
    }
    return "";
}

const Catalog& catalog_of(const TomlFile& file) { return file.catalog ? *file.catalog : Catalog::built_in(); }

/// A number as it is written, less what TOML alone knows: signs above, separators, other bases.
std::string plain_number(const TomlNode& node)
{
    std::string text = node.shown;
    std::erase(text, '_');
    text.erase(0, text.starts_with('+') ? 1 : 0);
    return text.find_first_of("xob") == std::string::npos ? text : fmt::format("{}", node.number);
}

/// Far beyond any machine, and far within what products of such numbers can hold. Of power: twice what all
/// data centres draw (415 TWh in 2024: IEA, Energy and AI, 2025).
constexpr double least_plausible = 1e-15;
constexpr double most_plausible(Dimension dimension) { return dimension == Dimension::power ? 1e11 : 1e25; }

}  // namespace

bool Range::contains(double value) const
{
    const bool above = ends == Ends::open_low ? value > low : value >= low;
    const bool below = ends == Ends::open_high ? value < high : value <= high;
    return above && below;  // false for NaN
}

std::string Range::interval() const
{
    return fmt::format("{}{:.15g}, {:.15g}{}", ends == Ends::open_low ? '(' : '[', low, high,
                       ends == Ends::open_high ? ')' : ']');
}

void Value::fail(const Complaint& complaint) const
{
    const std::string of = owner_.empty() ? "" : fmt::format(" of {}", owner_);
    file_->refuse(node_->line, fmt::format("{} = {}{} {}", node_->key, node_->shown, of, complaint.reason()),
                  complaint.remedy);
}

void Value::wrong_type(std::string_view why, std::string_view example) const
{
    fail({fmt::format("is {}", type_name(node_->kind)), fmt::format("needs {}", why),
          fmt::format("write {}", example)});
}

double Value::in_range(const Range& range) const
{
    if (!range.contains(node_->number)) {
        fail({fmt::format("is not in {}", range.interval()), std::string(range.meaning),
              fmt::format("write for example {}", range.example)});
    }
    return node_->number;
}

std::string Value::text(std::string_view example) const
{
    std::string text = document(example);
    if (const std::size_t control = find_control(text); control != std::string::npos) {
        fail({fmt::format("contains the control character {}", control_name(text, control)),
              "texts are names and notes of one line, which reports and scripts repeat", "remove it"});
    }
    return text;
}

std::string Value::document(std::string_view example) const
{
    if (node_->kind != Kind::text) {
        wrong_type("a string in quotes", fmt::format("for example \"{}\"", example));
    }
    if (node_->text.find_first_not_of(" \t") == std::string::npos) {
        fail({"is empty", "needs a string", fmt::format("write for example \"{}\"", example)});
    }
    return node_->text;
}

bool Value::boolean() const
{
    if (node_->kind != Kind::boolean) {
        wrong_type("a boolean", "true or false, without quotes");
    }
    return node_->boolean;
}

std::int64_t Value::integer(const Range& range) const
{
    if (node_->kind != Kind::integer) {
        wrong_type("an integer", fmt::format("for example {}", range.example));
    }
    in_range(range);
    return node_->integer;
}

int Value::count(const Range& range) const { return static_cast<int>(integer(range)); }

double Value::number(const Range& range) const
{
    if (node_->kind != Kind::number && node_->kind != Kind::integer) {
        wrong_type("a number", fmt::format("for example {}", range.example));
    }
    return in_range(range) + 0.0;  // never -0.0: it is written as -0, which is read as 0
}

double Value::amount(const Range& range) const
{
    return node_->kind == Kind::text ? parsed_number(parse_count(node_->text, range.example), range)
                                     : number(range);
}

double Value::dollars(const Range& range) const
{
    return node_->kind == Kind::text ? parsed_number(parse_dollars(node_->text), range) : number(range);
}

double Value::parsed_number(const std::variant<double, Complaint>& parsed, const Range& range) const
{
    if (const auto* complaint = std::get_if<Complaint>(&parsed)) {
        fail(*complaint);
    }
    const double value = std::get<double>(parsed);
    if (!range.contains(value)) {
        fail({fmt::format("is not in {}", range.interval()), std::string(range.meaning),
              fmt::format("write for example {}", range.example)});
    }
    return value;
}

std::chrono::sys_days Value::date() const
{
    if (node_->kind != Kind::text && node_->kind != Kind::date) {
        wrong_type("a date", "for example 2027-01-15");
    }
    const auto day = parse_date(node_->text);
    if (!day) {
        fail({"is not a calendar date", "needs year, month and day, from 2000 to 2199",
              "write for example 2027-01-15"});
    }
    return *day;
}

std::vector<Value> Value::list(std::string_view example) const
{
    if (node_->kind != Kind::list) {
        wrong_type("an array", fmt::format("for example {}", example));
    }
    if (node_->children.empty()) {
        fail({"is empty", "needs at least one value", fmt::format("write for example {}", example)});
    }
    std::vector<Value> values;
    for (const TomlNode& child : node_->children) {
        values.emplace_back(child, *file_, owner_);
    }
    return values;
}

const Catalog& Value::catalog() const { return catalog_of(*file_); }

Table Value::table(std::string_view example) const
{
    if (node_->kind != Kind::table) {
        wrong_type("a table", fmt::format("for example {}", example));
    }
    return Table(*node_, *file_);
}

std::string Value::choice(const std::vector<std::string>& names, std::string_view why,
                          std::string_view otherwise) const
{
    std::string chosen = text(names.front());
    if (std::find(names.begin(), names.end(), chosen) == names.end()) {
        const std::string question = did_you_mean(chosen, names);
        fail(
            {fmt::format("is not one of {}", listed(names)), std::string(why),
             (question.empty() ? "choose one of these" : question) +
                 (otherwise.empty() ? "" : fmt::format("{} Or {}", question.empty() ? "." : "", otherwise))});
    }
    return chosen;
}

double Value::si(Dimension dimension, std::string_view example, Sign sign) const
{
    if (node_->kind != Kind::text && node_->kind != Kind::integer && node_->kind != Kind::number) {
        wrong_type(name(dimension), fmt::format("for example \"{}\"", example));
    }
    const auto result =
        parse_si(node_->kind == Kind::text ? node_->text : plain_number(*node_), dimension, example);
    if (const auto* complaint = std::get_if<Complaint>(&result)) {
        fail(*complaint);
    }
    const double value = std::get<double>(result);
    if (std::signbit(value) && value != 0.0 && sign != Sign::any) {
        fail({"is negative", fmt::format("needs {}", name(dimension)),
              fmt::format("write for example \"{}\"", example)});
    }
    if (value == 0.0 && sign == Sign::positive) {
        fail({"is zero", fmt::format("needs {}, greater than zero", name(dimension)),
              fmt::format("write for example \"{}\"", example)});
    }
    if (value != 0.0 && (std::abs(value) < least_plausible || std::abs(value) > most_plausible(dimension))) {
        fail({"is not plausible",
              fmt::format("needs {} in the range of real machines and runs", name(dimension)),
              fmt::format("write for example \"{}\"", example)});
    }
    return value;
}

std::optional<Value> Table::find(std::string_view key)
{
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        known_.emplace_back(key);
    }
    const auto child = std::find_if(node_->children.begin(), node_->children.end(),
                                    [&](const TomlNode& node) { return node.key == key; });
    if (child == node_->children.end()) {
        return std::nullopt;
    }
    return Value(*child, *file_, subject_);
}

Value Table::at(std::string_view key, std::string_view example)
{
    if (const auto value = find(key)) {
        return *value;
    }
    // A slip in a key that must be there is better reported as what it is. One slip only: keys
    // not asked for yet may be similar.
    for (const TomlNode& child : node_->children) {
        if (std::find(known_.begin(), known_.end(), child.key) == known_.end() && one_slip(child.key, key)) {
            unknown(child, {std::string(key)});
        }
    }
    fail({fmt::format("has no '{}'", key), "this key is required", fmt::format("add {}", example)});
}

std::optional<Value> Table::find(std::string_view key, Keys keys, std::string_view example)
{
    if (keys == Keys::some) {
        return find(key);
    }
    return at(key, example);
}

Table Table::section(std::string_view key, std::string_view example)
{
    return at(key, example).table(example);
}

const Catalog& Table::catalog() const { return catalog_of(*file_); }

std::vector<std::string> Table::keys() const
{
    std::vector<std::string> names;
    for (const TomlNode& child : node_->children) {
        names.push_back(child.key);
    }
    return names;
}

void Table::unknown(const TomlNode& child, const std::vector<std::string>& known) const
{
    const std::string guess = guess_of(child.key, known);
    const std::string key = fmt::format("unknown key '{}'{}", printable(child.key),
                                        subject_.empty() ? "" : fmt::format(" of {}", subject_));
    if (guess.empty()) {
        file_->refuse(child.line, fmt::format("{} (known here: {})", key, listed(known)),
                      "remove it or use a known key");
    }
    file_->refuse(child.line, key + guess, "");
}

void Table::refuse_unknown_keys() const
{
    const TomlNode* first = nullptr;
    for (const TomlNode& child : node_->children) {
        if (std::find(known_.begin(), known_.end(), child.key) == known_.end() &&
            (!first || child.line < first->line)) {
            first = &child;
        }
    }
    if (first) {
        unknown(*first, known_);
    }
}

void Table::fail(const Complaint& complaint) const
{
    const std::string place = node_->key.empty() ? "the file" : fmt::format("[{}]", node_->key);
    const std::string subject = subject_.empty() ? place : subject_;
    file_->refuse(node_->line, fmt::format("{} {}", subject, complaint.reason()), complaint.remedy);
}

}  // namespace prismopt
