#include "io/toml/reading_figure.hpp"

#include "io/toml/reading_units.hpp"
#include "search/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace prismopt {

namespace {

constexpr double least_grouped = 1000.0;
constexpr double most_grouped = 1e18;  // counts of 64 bits
constexpr int most_decimals = 15;

/// Rounded to so many significant digits.
double rounded(double value, int digits) { return std::stod(fmt::format("{:.{}e}", value, digits - 1)); }

/// Without the zeros at its end, and the point before them.
std::string without_zeros(std::string figure)
{
    if (figure.find('.') != std::string::npos) {
        figure.erase(figure.find_last_not_of('0') + 1);
        if (figure.ends_with('.')) {
            figure.pop_back();
        }
    }
    return figure;
}

}  // namespace

std::string reading_figure(double value, int digits)
{
    if (!std::isfinite(value)) {
        return fmt::format("{}", value);
    }
    const double size = std::abs(rounded(value, digits));
    if (size == 0.0) {
        return "0";
    }
    const std::string sign = value < 0.0 ? "-" : "";
    if (size >= most_grouped) {
        return sign + fmt::format("{:.{}g}", size, digits);
    }
    if (size >= least_grouped) {
        return sign + grouped(static_cast<std::uint64_t>(std::llround(size)));
    }
    const int decimals = digits - 1 - static_cast<int>(std::floor(std::log10(size)));
    return sign + without_zeros(fmt::format("{:.{}f}", size, std::clamp(decimals, 0, most_decimals)));
}

std::string signed_figure(double value, double scale, int digits)
{
    constexpr double rounding = 1e-12;  // relative, of some thousand operations on doubles
    if (std::abs(value) <= rounding * std::abs(scale)) {
        return "0";
    }
    return (value > 0.0 ? "+" : "") + reading_figure(value, digits);
}

std::string reading_quantity(double value, std::string_view units, int digits)
{
    if (units == "s" && !std::isfinite(value)) {
        return "never";
    }
    const ReadingUnit unit = reading_unit(units, value);
    const std::string figure = reading_figure(value / unit.size, digits);
    return unit.name.empty() ? figure : figure + " " + unit.name;
}

}  // namespace prismopt
