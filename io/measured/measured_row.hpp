#pragma once

#include "io/measured/measured_runs.hpp"
#include "io/measured/measured_tables.hpp"

#include <string>
#include <variant>

namespace prismopt {

/// Reads one row of a described table: the run, or why it cannot be predicted.
std::variant<MeasuredRun, std::string> read_measured_row(const MeasuredTable& table, CsvRow row);

}  // namespace prismopt
