#pragma once

/// Units for displaying quantities, shared by texts, plots and pages.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace prismopt {

struct ReadingUnit {
    std::string name;
    double size = 1.0;  // in the units of the quantity
};

/// Display unit of quantities in `units` ("s", "USD", "B", ...) up to `largest`; empty for plain numbers.
ReadingUnit reading_unit(std::string_view units, double largest);

/// A time in its display unit, "29.5 min"; "never" if it is not finite.
std::string time_text(double seconds, int digits = 4);

/// "1 plan", "2 plans", "12,345 plans".
std::string counted(std::uint64_t number, std::string_view thing);

/// A large count with the suffixes of token counts: "405 B", "15.6 T".
std::string short_count(double number);

/// The table of reading_unit(), from the largest unit down.
struct ReadingRow {
    std::string_view units;
    std::string_view name;
    double from;  // the smallest quantity shown in it
    double size;
};
std::span<const ReadingRow> reading_rows();

}  // namespace prismopt
