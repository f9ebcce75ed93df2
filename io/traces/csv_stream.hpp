#pragma once

/// Lines of a large table, one after the other, by the columns that a reader asks for.

#include "io/traces/trace_stream.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// One line of a table: its fields, valid during the call that gets it.
struct TableLine {
    const std::vector<std::string_view>& fields;
    std::uint32_t number;  // of the line; the header is in line 1 unless it was quoted over several
};

/// A table's header and the reader of its lines. `start` gets the header once; `line` each line after it. Throws InputError
/// `path:line: ...` where a line has another number of fields than the header, or is not text.
struct TableReader {
    std::function<void(const std::vector<std::string>& header)> start;
    std::function<void(const TableLine&)> line;
    char separator = ',';  // a comma, a tab, a bar
};
void read_table(TraceStream& stream, const std::string& path, const TableReader& reader);

/// Place of the first of `names` in the header, or -1.
int column(const std::vector<std::string>& header, const std::vector<std::string_view>& names);

/// A number, whole text; not a number where it is none.
double number_in(std::string_view field);

}  // namespace prismopt
