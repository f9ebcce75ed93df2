#pragma once

/// Tables of comma-separated values with a header line (RFC 4180: quoted fields may contain
/// commas, quotes and line ends).

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace prismopt {

/// One line by column name.
class CsvRow {
public:
    explicit CsvRow(std::map<std::string, std::string> fields) : fields_(std::move(fields)) {}

    /// Field of a column; empty if the column or the field is missing.
    std::string text(const std::string& column) const;
    /// Number in a column; zero if there is none.
    double number(const std::string& column) const;
    int count(const std::string& column) const;

private:
    std::map<std::string, std::string> fields_;
};

/// Fields of every line, for files with or without a header. Throws InputError for more
/// fields than memory should hold.
std::vector<std::vector<std::string>> csv_fields(const std::string& text, const std::string& path);

/// Bytes that are read of a file written by hand or by this program: tables of measured plans, factors of
/// nodes, orders, configurations. The largest that is known, orders of 128 stages, has a few MB.
inline constexpr std::uint64_t written_file_limit = std::uint64_t{64} << 20U;

/// Reads a whole file. Throws InputError when it cannot be read, or has more bytes than the limit, of
/// which no more are held in memory.
std::string read_text(const std::string& path, std::uint64_t limit = written_file_limit);

/// Reads all lines of a file. Throws InputError when it cannot be read or a line does not have as many fields
/// as the header, or the file has more fields than memory should hold.
std::vector<CsvRow> read_csv(const std::string& path);
/// The same from text already in memory (`path` is for messages).
std::vector<CsvRow> parse_csv(const std::string& text, const std::string& path);

}  // namespace prismopt
