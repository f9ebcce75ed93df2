#pragma once

/// Reads large tables line by line.

#include "io/traces/trace_stream.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// One line of a table; its fields are valid during the call of the reader.
struct TableLine {
    const std::vector<std::string_view>& fields;
    std::uint32_t number;  // of the line; the header is line 1, unless a quoted field spans several lines
};

/// Callbacks of a table: `start` receives the header once, `line` each line after it. Reading throws InputError `path:line: ...` for a line
/// that does not have as many fields as the header, or is not text.
struct TableReader {
    std::function<void(const std::vector<std::string>& header)> start;
    std::function<void(const TableLine&)> line;
    char separator = ',';  // a comma, a tab or a bar
};
void read_table(TraceStream& stream, const std::string& path, const TableReader& reader);

/// Position of the first of `names` in the header, or -1.
int column(const std::vector<std::string>& header, const std::vector<std::string_view>& names);

/// The whole text as a number; NaN if it is not one.
double number_in(std::string_view field);

}  // namespace prismopt
