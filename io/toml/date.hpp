#pragma once

/// Calendar days as scenarios and reports write them: 2027-01-15.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace prismopt {

/// Nothing where the text is not a day of the calendar between 2000 and 2199.
std::optional<std::chrono::sys_days> parse_date(std::string_view text);

std::string date_text(std::chrono::sys_days day);

/// The day on which a run ends that begins with the day `start` and takes `seconds`; "never" beyond the year 9999.
std::string end_date(std::chrono::sys_days start, double seconds);

}  // namespace prismopt
