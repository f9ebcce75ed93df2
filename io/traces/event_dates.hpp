#pragma once

/// Dates of events as lists of outages and logs write them, in seconds. Not a number where a text is no date.

#include <optional>
#include <string_view>

namespace prismopt {

/// "2024-03-01T12:30:00", with a blank instead of the T, or the date alone; since 1970.
double seconds_of_date(std::string_view text);
/// "2024-02-31": meant as a date, whether there is such a day or not.
bool may_be_date(std::string_view text);
/// "01/25/2004 13:40" or "1/25/04 13:40", month first; since 1970. Years below 70 are of this century.
double seconds_of_us_date(std::string_view text);

/// A time without its year, as syslog writes it (RFC 3164, 4.1.2): "Mar  5 07:11:19".
struct SyslogTime {
    int month = 1;
    int day = 1;
    double seconds = 0.0;  // of the day
};
std::optional<SyslogTime> syslog_time(std::string_view text);
/// In a year, since 1970.
double seconds_of(const SyslogTime& time, int year);

}  // namespace prismopt
