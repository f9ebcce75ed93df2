#pragma once

/// Fields and column names of the CSV that is written for spreadsheets and data frames.

#include <string>
#include <string_view>

namespace prismopt {

/// RFC 4180: a field with a comma, a quote or a line break is quoted, and quotes in it are doubled.
std::string csv_field(const std::string& text);
/// Empty where there is no value.
std::string csv_number(double value);
/// Column name with its unit: training_time_p99 in "s" is training_time_p99_s. `limit`: "", "_low", "_high".
std::string csv_column(std::string_view name, std::string_view limit, std::string_view units);

}  // namespace prismopt
