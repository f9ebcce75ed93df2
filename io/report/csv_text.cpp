#include "io/report/csv_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace prismopt {

std::string csv_field(const std::string& text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string doubled;
    for (const char c : text) {
        doubled.append(c == '"' ? 2 : 1, c);
    }
    return fmt::format("\"{}\"", doubled);
}

std::string csv_number(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

std::string csv_column(std::string_view name, std::string_view limit, std::string_view units)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> suffixes{
        {{"s", "_s"},
         {"h", "_h"},
         {"B", "_bytes"},
         {"USD", "_usd"},
         {"USD/h", "_usd_per_hour"},
         {"J", "_j"},
         {"kg", "_kg"}}};
    const auto* suffix = std::find_if(suffixes.begin(), suffixes.end(),
                                      [units](const auto& row) { return row.first == units; });
    return fmt::format("{}{}{}", name, limit, suffix == suffixes.end() ? "" : suffix->second);
}

}  // namespace prismopt
