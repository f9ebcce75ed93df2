#include "io/toml/date.hpp"

#include "model/base/units.hpp"

#include <fmt/format.h>

#include <cmath>

namespace prismopt {

using namespace literals;

namespace {

/// All of `text` as a number of this many digits.
std::optional<int> digits(std::string_view text)
{
    int number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') {
            return std::nullopt;
        }
        number = 10 * number + (c - '0');
    }
    return number;
}

}  // namespace

std::optional<std::chrono::sys_days> parse_date(std::string_view text)
{
    constexpr int first_year = 2000;
    constexpr int last_year = 2199;
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
        return std::nullopt;
    }
    const auto year = digits(text.substr(0, 4));
    const auto month = digits(text.substr(5, 2));
    const auto day = digits(text.substr(8, 2));
    if (!year || !month || !day || *year < first_year || *year > last_year) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    return date.ok() ? std::optional(std::chrono::sys_days(date)) : std::nullopt;
}

std::string date_text(std::chrono::sys_days day)
{
    const std::chrono::year_month_day date(day);
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string end_date(std::chrono::sys_days start, double seconds)
{
    constexpr double day_s = (1_day).si;
    constexpr double most_days = 2.8e6;  // from the year 2199 to 9865
    const double days = std::floor(seconds / day_s);
    // Also "never" where it is not a number.
    return days < most_days ? date_text(start + std::chrono::days(static_cast<int>(days))) : "never";
}

}  // namespace prismopt
