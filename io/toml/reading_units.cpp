#include "io/toml/reading_units.hpp"

#include "search/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace prismopt {

namespace {

constexpr double minute = 60.0;
constexpr double hour = 60.0 * minute;
constexpr double day = 24.0 * hour;

}  // namespace

std::span<const ReadingRow> reading_rows()
{
    // Times from two of a unit on, so that no figure is "1 days".
    static constexpr std::array rows{
        ReadingRow{"s", "days", 2.0 * day, day},
        ReadingRow{"s", "h", 2.0 * hour, hour},
        ReadingRow{"s", "min", 2.0 * minute, minute},
        ReadingRow{"s", "s", 1.0, 1.0},
        ReadingRow{"s", "ms", 0.0, 1e-3},
        ReadingRow{"USD", "M USD", 1e6, 1e6},
        ReadingRow{"USD", "k USD", 1e3, 1e3},
        ReadingRow{"USD", "USD", 0.0, 1.0},
        ReadingRow{"B", "GB", 0.0, 1e9},
        ReadingRow{"J", "GWh", 3.6e12, 3.6e12},
        ReadingRow{"J", "MWh", 3.6e9, 3.6e9},
        ReadingRow{"J", "kWh", 0.0, 3.6e6},
        ReadingRow{"W", "MW", 1e6, 1e6},
        ReadingRow{"W", "kW", 1e3, 1e3},
        ReadingRow{"W", "W", 0.0, 1.0},
        ReadingRow{"kg", "t", 1e3, 1e3},
        ReadingRow{"kg", "kg", 0.0, 1.0},
    };
    return rows;
}

ReadingUnit reading_unit(std::string_view units, double largest)
{
    for (const ReadingRow& row : reading_rows()) {
        if (row.units == units && std::abs(largest) >= row.from) {
            return {std::string(row.name), row.size};
        }
    }
    return {units == "1" ? "" : std::string(units), 1.0};
}

std::string time_text(double seconds, int digits)
{
    if (!std::isfinite(seconds)) {
        return "never";
    }
    const ReadingUnit unit = reading_unit("s", seconds);
    return fmt::format("{:.{}g} {}", seconds / unit.size, digits, unit.name);
}

std::string counted(std::uint64_t number, std::string_view thing)
{
    return fmt::format("{} {}{}", grouped(number), thing, number == 1 ? "" : "s");
}

std::string short_count(double number)
{
    constexpr std::array<std::pair<double, std::string_view>, 4> suffixes{
        {{1e12, " T"}, {1e9, " B"}, {1e6, " M"}, {1e3, " k"}}};
    for (const auto& [size, suffix] : suffixes) {
        if (number >= size) {
            return fmt::format("{:.3g}{}", number / size, suffix);
        }
    }
    return fmt::format("{:.3g}", number);
}

}  // namespace prismopt
