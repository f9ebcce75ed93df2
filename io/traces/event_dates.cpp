#include "io/traces/event_dates.hpp"

#include "io/base/csv_stream.hpp"
#include "model/base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace prismopt {

using namespace literals;

namespace {

constexpr double no_date = std::numeric_limits<double>::quiet_NaN();

/// Days from 1970 to a date of the Gregorian calendar. Source: Fliegel and van
/// Flandern, Comm. ACM 11 (1968) 657.
double days_of(int year, int month, int day)
{
    const int a = (month - 14) / 12;
    const int julian = day - 32075 + 1461 * (year + 4800 + a) / 4 + 367 * (month - 2 - a * 12) / 12 -
                       3 * ((year + 4900 + a) / 100) / 4;
    return julian - 2440588.0;
}

int days_in(int year, int month)
{
    constexpr int december = 12;
    return static_cast<int>((month == december ? days_of(year + 1, 1, 1) : days_of(year, month + 1, 1)) -
                            days_of(year, month, 1));
}

/// The next number of one to four digits, and what follows it.
double next_number(std::string_view& text, std::string_view separators)
{
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    constexpr std::size_t most_digits = 4;
    const double value = end == 0 || end > most_digits ? no_date : number_in(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    return value;
}

/// "07:11:19"; the seconds may be missing.
double seconds_of_clock(std::string_view text)
{
    const double hour = next_number(text, ":");
    const double minute = next_number(text, ":");
    const double second = text.empty() ? 0.0 : number_in(text);
    const bool valid =
        hour >= 0.0 && hour < 24.0 && minute >= 0.0 && minute < 60.0 && second >= 0.0 && second <= 60.0;
    return valid ? hour * 3600.0 + minute * 60.0 + second : no_date;
}

bool is_day(double year, double month, double day)
{
    constexpr double latest = 9999.0;
    return year >= 1970.0 && year <= latest && month >= 1.0 && month <= 12.0 && month == std::floor(month) &&
           day >= 1.0 && day == std::floor(day) &&
           day <= days_in(static_cast<int>(year), static_cast<int>(month));
}

}  // namespace

double seconds_of_date(std::string_view text)
{
    const auto number_at = [&](std::size_t at, std::size_t length) {
        return text.size() < at + length ? 0.0 : number_in(text.substr(at, length));
    };
    const bool dashes = text.size() >= 10 && text[4] == '-' && text[7] == '-';
    const bool clock = text.size() < 11 || (text.size() >= 19 && text[13] == ':' && text[16] == ':');
    const double year = number_at(0, 4);
    const double month = number_at(5, 2);
    const double day = number_at(8, 2);
    const double time = number_at(11, 2) * 3600.0 + number_at(14, 2) * 60.0 + number_at(17, 2);
    if (!dashes || !clock || !is_day(year, month, day) || !(time >= 0.0)) {
        return no_date;
    }
    return days_of(static_cast<int>(year), static_cast<int>(month), static_cast<int>(day)) * (1_day).si +
           time;
}

bool may_be_date(std::string_view text)
{
    constexpr std::string_view pattern = "0000-00-00";
    if (text.size() < pattern.size()) {
        return false;
    }
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (pattern[i] == '0' ? !digit : text[i] != pattern[i]) {
            return false;
        }
    }
    return true;
}

double seconds_of_us_date(std::string_view text)
{
    const double month = next_number(text, "/");
    const double day = next_number(text, "/");
    double year = next_number(text, " ");
    if (year < 100.0) {
        year += year < 70.0 ? 2000.0 : 1900.0;
    }
    const double clock = text.empty() ? 0.0 : seconds_of_clock(text);
    if (!is_day(year, month, day) || !std::isfinite(clock)) {
        return no_date;
    }
    return days_of(static_cast<int>(year), static_cast<int>(month), static_cast<int>(day)) * (1_day).si +
           clock;
}

std::optional<SyslogTime> syslog_time(std::string_view text)
{
    constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    constexpr std::size_t length = 15;
    const auto* const month = std::find(months.begin(), months.end(), text.substr(0, 3));
    if (text.size() != length || month == months.end()) {
        return std::nullopt;
    }
    const std::string_view day_text = text[4] == ' ' ? text.substr(5, 1) : text.substr(4, 2);
    SyslogTime time;
    time.month = static_cast<int>(month - months.begin()) + 1;
    const double day = number_in(day_text);
    time.seconds = seconds_of_clock(text.substr(7));
    constexpr double leap_year = 2000.0;
    if (!is_day(leap_year, time.month, day) || !std::isfinite(time.seconds)) {
        return std::nullopt;
    }
    time.day = static_cast<int>(day);
    return time;
}

double seconds_of(const SyslogTime& time, int year)
{
    return days_of(year, time.month, time.day) * (1_day).si + time.seconds;
}

}  // namespace prismopt
