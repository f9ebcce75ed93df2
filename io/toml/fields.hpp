#pragma once

/// Declarations of the keys of scenario sections: one table of fields per section. The reader, the JSON
/// schema, the reference page and messages about missing keys use these tables.

#include "io/toml/catalog.hpp"
#include "io/toml/quantity.hpp"
#include "io/toml/toml.hpp"
#include "model/base/names.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace prismopt {

class SectionTable;

/// Type and range of a value.
struct ValueShape {
    enum class Kind { integer, number, quantity, boolean, text, date, choice, section };

    Kind kind = Kind::text;
    Range range{};                                      // of integers and numbers
    Dimension dimension = Dimension::data;              // of quantities
    std::function<std::vector<std::string>()> names{};  // of choices
    // Of sections; evaluated late: a distribution may contain one.
    std::function<const SectionTable&()> section{};
    bool open = false;     // other names than those of the choice are possible, too
    bool list = false;     // an array of one or more values
    bool sets = false;     // arrays of values, as the values of a list
    bool by_name = false;  // sections under names chosen in the file
};

/// Whether a key may be absent: always; only in a section that changes a catalog entry; only in a scenario of
/// measured steps, which is read with Keys::some; never.
enum class Need { optional, complete, study, required };

struct KeyInfo {
    std::string key;
    std::string help;
    std::string example;             // a value in TOML syntax
    std::vector<ValueShape> shapes;  // the value has one of them
    Need need = Need::optional;
    std::string usual{};  // default value, if worth documenting

    /// A valid line or section of a file.
    std::string line() const;
    /// Whether a file that describes a study must have it.
    bool required() const { return need == Need::required || need == Need::study; }
};

/// Documentation of a section, independent of its reader.
class SectionTable {
public:
    SectionTable(std::string title, std::string help) : title_(std::move(title)), help_(std::move(help)) {}

    const std::string& title() const { return title_; }  // in messages and on the reference page, "[power]"
    const std::string& help() const { return help_; }
    const std::vector<KeyInfo>& keys() const { return keys_; }
    /// A short value of the section: its required keys, or the first key.
    std::string example() const;

    SectionTable& add(KeyInfo info);

protected:
    std::vector<KeyInfo>& keys() { return keys_; }

private:
    std::string title_;
    std::string help_;
    std::vector<KeyInfo> keys_;
};

template <Nameable Enum>
std::vector<std::string> enum_names()
{
    std::vector<std::string> names;
    for (const Named<Enum>& row : names_of<Enum>) {
        names.emplace_back(row.name);
    }
    return names;
}

inline ValueShape choice_shape(std::function<std::vector<std::string>()> names)
{
    return {.kind = ValueShape::Kind::choice, .names = std::move(names)};
}

/// The name of an entry of the catalog: of the program's, or of a user's.
ValueShape entry_shape(std::string_view kind);

/// `text` in quotes, as a TOML string.
std::string in_quotes(std::string_view text);

/// Fields of a section that is read into a T. `of` is a pointer to a member, or a
/// function from T& to the target.
template <class T>
class Fields : public SectionTable {
public:
    using Read = std::function<void(const Value&, T&, Keys)>;
    using Check = std::function<void(Table&, const T&)>;

    using SectionTable::SectionTable;

    template <class Of>
    Fields& integer(std::string_view key, Of of, const Range& range)
    {
        return plain(key, of, range.meaning, std::string(range.example),
                     {.kind = ValueShape::Kind::integer, .range = range},
                     [range](const Value& value) { return value.integer(range); });
    }

    template <class Of>
    Fields& number(std::string_view key, Of of, const Range& range)
    {
        return plain(key, of, range.meaning, std::string(range.example),
                     {.kind = ValueShape::Kind::number, .range = range},
                     [range](const Value& value) { return value.number(range); });
    }

    /// A number, or a string with an SI suffix.
    template <class Of>
    Fields& amount(std::string_view key, Of of, const Range& range)
    {
        plain(key, of, range.meaning, std::string(range.example),
              {.kind = ValueShape::Kind::number, .range = range},
              [range](const Value& value) { return value.amount(range); });
        keys().back().shapes.push_back({.kind = ValueShape::Kind::text});
        return *this;
    }

    /// US dollars: a number, or a string with a suffix, a unit, or both.
    template <class Of>
    Fields& dollars(std::string_view key, Of of, const Range& range)
    {
        plain(key, of, range.meaning, std::string(range.example),
              {.kind = ValueShape::Kind::number, .range = range},
              [range](const Value& value) { return value.dollars(range); });
        keys().back().shapes.push_back({.kind = ValueShape::Kind::text});
        return *this;
    }

    template <class Of>
    Fields& quantity(std::string_view key, Of of, std::string_view example, std::string_view help,
                     Sign sign = Sign::positive)
    {
        using Quantity = std::decay_t<std::invoke_result_t<Of, T&>>;
        return plain(key, of, help, in_quotes(example),
                     {.kind = ValueShape::Kind::quantity, .dimension = dimension_of(Quantity{})},
                     [example, sign](const Value& value) { return value.quantity<Quantity>(example, sign); });
    }

    template <class Of>
    Fields& flag(std::string_view key, Of of, std::string_view help)
    {
        return plain(key, of, help, "true", {.kind = ValueShape::Kind::boolean},
                     [](const Value& value) { return value.boolean(); });
    }

    template <class Of>
    Fields& text(std::string_view key, Of of, std::string_view example, std::string_view help)
    {
        return plain(key, of, help, in_quotes(example), {.kind = ValueShape::Kind::text},
                     [example](const Value& value) { return value.text(example); });
    }

    /// A date, with or without quotes.
    template <class Of>
    Fields& date(std::string_view key, Of of, std::string_view example, std::string_view help)
    {
        return plain(key, of, help, std::string(example), {.kind = ValueShape::Kind::date},
                     [](const Value& value) { return value.date(); });
    }

    template <class Of>
    Fields& choice(std::string_view key, Of of, std::string_view example, std::string_view help)
    {
        using Enum = std::decay_t<std::invoke_result_t<Of, T&>>;
        return plain(key, of, help, in_quotes(example),
                     {.kind = ValueShape::Kind::choice, .names = enum_names<Enum>},
                     [why = std::string(help)](const Value& value) {
                         return *parse<Enum>(value.choice(enum_names<Enum>(), why));
                     });
    }

    /// A nested section, read with the same rule on absent keys.
    template <class Of, class U>
    Fields& nested(std::string_view key, Of of, const Fields<U>& (*fields)())
    {
        const Fields<U>& inner = fields();
        return custom({std::string(key),
                       inner.help(),
                       inner.example(),
                       {{.kind = ValueShape::Kind::section,
                         .section = [fields]() -> const SectionTable& { return fields(); }}}},
                      [of, fields](const Value& value, T& target, Keys keys) {
                          Table table = value.table(fields().example());
                          fields().read_whole(table, keys, std::invoke(of, target));
                      });
    }

    /// The key that names a catalog entry as the starting point, which the other keys change. `usual`: the
    /// default entry; if empty, all keys are required without the key.
    Fields& base(std::string_view key, std::string_view kind, T (*entry)(const std::string&, const Catalog&),
                 std::string help, std::string usual = "")
    {
        const ValueShape shape = entry_shape(kind);
        keys().insert(
            keys().begin(),
            {std::string(key), help, in_quotes(shape.names().front()), {shape}, Need::optional, usual});
        reads_.insert(reads_.begin(), nullptr);
        base_ = [key = std::string(key), kind = std::string(kind), entry, help = std::move(help),
                 usual = std::move(usual)](const Fields& fields, Table& table, T& target) {
            const auto value = table.find(key);
            if (!value && usual.empty()) {
                return false;
            }
            const Catalog& catalog = table.catalog();
            target = entry(value ? value->choice(catalog.names(kind), help, fields.instead_of(key)) : usual,
                           catalog);
            return true;
        };
        return *this;
    }

    /// All fields of another table.
    Fields& include(const Fields& other)
    {
        keys().insert(keys().end(), other.SectionTable::keys().begin(), other.SectionTable::keys().end());
        reads_.insert(reads_.end(), other.reads_.begin(), other.reads_.end());
        checks_.insert(checks_.end(), other.checks_.begin(), other.checks_.end());
        return *this;
    }

    /// A field with its own reader.
    Fields& custom(KeyInfo info, Read read)
    {
        add(std::move(info));
        reads_.push_back(std::move(read));
        return *this;
    }

    // Apply to the field added last.
    Fields& complete() { return with(Need::complete); }
    Fields& required() { return with(Need::required); }
    Fields& of_study() { return with(Need::study); }

    /// Adds a check that runs after all fields of the section are read; it reports errors through the table.
    Fields& check(Check check)
    {
        checks_.push_back(std::move(check));
        return *this;
    }

    /// Reads the fields that are present; throws InputError. Other keys are left to the caller.
    void read(Table& table, Keys keys, T& target) const
    {
        const bool based = base_ && base_(*this, table, target);
        if (based) {
            keys = Keys::some;
        }
        const std::string instead = base_ && !based ? SectionTable::keys().front().line() + ", or " : "";
        for (std::size_t i = 0; i < reads_.size(); ++i) {
            if (!reads_[i]) {
                continue;  // the base
            }
            const KeyInfo& info = SectionTable::keys()[i];
            const bool of_all = info.need == Need::complete || info.need == Need::study;
            const bool needed = info.need == Need::required || (of_all && keys == Keys::all);
            if (const auto value = needed ? std::optional(table.at(info.key, instead + info.line()))
                                          : table.find(info.key)) {
                reads_[i](*value, target, keys);
            }
        }
        for (const Check& check : checks_) {
            check(table, target);
        }
    }

    /// Reads a section and refuses other keys.
    void read_whole(Table& table, Keys keys, T& target) const
    {
        read(table, keys, target);
        table.refuse_unknown_keys();
    }

private:
    template <class Of, class Convert>
    Fields& plain(std::string_view key, Of of, std::string_view help, std::string example, ValueShape shape,
                  Convert convert)
    {
        T fresh{};
        KeyInfo info{std::string(key), std::string(help), std::move(example), {std::move(shape)}};
        info.usual = usual_text(std::invoke(of, fresh), info.shapes.front());
        return custom(std::move(info), [of, convert](const Value& value, T& target, Keys) {
            auto& member = std::invoke(of, target);
            member = static_cast<std::decay_t<decltype(member)>>(convert(value));
        });
    }

    /// A number that cannot be written means that none is given.
    template <class V>
    static std::string usual_text(const V& value, const ValueShape& shape)
    {
        if constexpr (std::is_same_v<V, bool>) {
            return value ? "true" : "false";
        } else if constexpr (std::is_arithmetic_v<V>) {
            return shape.range.contains(static_cast<double>(value)) ? fmt::format("{}", value) : "";
        } else if constexpr (std::is_enum_v<V>) {
            return in_quotes(name(value));
        } else {
            return {};
        }
    }

    /// Remedy for names that are not in the catalog.
    std::string instead_of(const std::string& base) const
    {
        std::string list;
        for (const KeyInfo& info : SectionTable::keys()) {
            list += info.need == Need::complete ? (list.empty() ? "" : ", ") + info.key : "";
        }
        return list.empty()
                   ? ""
                   : fmt::format("describe your own: omit {} and give {} (docs/scenario.md)", base, list);
    }

    Fields& with(Need need)
    {
        SectionTable::keys().back().need = need;
        SectionTable::keys().back().usual.clear();
        return *this;
    }

    std::function<bool(const Fields&, Table&, T&)> base_;  // whether there was one
    std::vector<Read> reads_;                              // as keys(); the base has none
    std::vector<Check> checks_;
};

}  // namespace prismopt
