#pragma once

/// Reads tables line by line (RFC 4180: quoted fields may contain separators, quotes and line ends).

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

/// Callbacks of a table: `start` receives the header once, with control characters escaped, as
/// messages repeat it, `line` each line after it. Reading throws InputError `path:line: ...` for a
/// line that does not have as many fields as the header, or is not text. Without `start` there is
/// no header, and lines may differ.
struct TableReader {
    std::function<void(const std::vector<std::string>& header)> start;
    std::function<void(const TableLine&)> line;
    char separator = ',';  // a comma, a tab or a bar
};
/// `next`: the next bytes; empty at the end.
void read_table(const std::function<std::string_view()>& next, const std::string& path,
                const TableReader& reader);
/// The same for a text in memory.
void read_table(std::string_view text, const std::string& path, const TableReader& reader);

/// Position of the first of `names` in the header, or -1.
int column(const std::vector<std::string>& header, const std::vector<std::string_view>& names);

/// The whole text as a number; NaN if it is not one.
double number_in(std::string_view field);

}  // namespace prismopt
