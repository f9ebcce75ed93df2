#pragma once

/// Names of enumerators as spelled in files and on the command line: one list beside each enumeration.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace prismopt {

template <class Enum>
struct Named {
    Enum value;
    std::string_view name;
};

/// List of an enumeration's names, in the order in which messages show them; specialised beside each
/// enumeration that users can name.
template <class Enum>
inline constexpr std::array<Named<Enum>, 0> names_of{};

template <class Enum>
concept Nameable = std::is_enum_v<Enum> && !names_of<Enum>.empty();

template <Nameable Enum>
constexpr std::string_view name(Enum value)
{
    for (const Named<Enum>& row : names_of<Enum>) {
        if (row.value == value) {
            return row.name;
        }
    }
    return {};
}

/// Returns the value of the row of that name, or nothing.
template <class Enum, std::size_t n>
constexpr std::optional<Enum> parse(std::string_view text, const std::array<Named<Enum>, n>& rows)
{
    for (const Named<Enum>& row : rows) {
        if (row.name == text) {
            return row.value;
        }
    }
    return std::nullopt;
}

/// Returns the enumerator of that name, or nothing.
template <Nameable Enum>
constexpr std::optional<Enum> parse(std::string_view text)
{
    return parse(text, names_of<Enum>);
}

/// Returns all names of an enumeration, in order, separated by ", ".
template <Nameable Enum>
std::string choices()
{
    std::string text;
    for (const Named<Enum>& row : names_of<Enum>) {
        text += (text.empty() ? "" : ", ") + std::string(row.name);
    }
    return text;
}

/// Returns the value of the first row whose name `text` contains, or `otherwise`.
template <class Enum, std::size_t n>
constexpr Enum first_named_in(std::string_view text, const std::array<Named<Enum>, n>& rows, Enum otherwise)
{
    for (const Named<Enum>& row : rows) {
        if (text.find(row.name) != std::string_view::npos) {
            return row.value;
        }
    }
    return otherwise;
}

}  // namespace prismopt
