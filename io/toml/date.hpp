#pragma once

/// Calendar dates in the format of scenarios and reports: 2027-01-15.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace prismopt {

/// Parses a calendar date from 2000 to 2199; empty if it is not one.
std::optional<std::chrono::sys_days> parse_date(std::string_view text);

std::string date_text(std::chrono::sys_days day);

/// End date of a run that starts on `start` and takes `seconds`; "never" after the year 9999.
std::string end_date(std::chrono::sys_days start, double seconds);

}  // namespace prismopt
