#pragma once

/// Tables of comma separated values with a header line (RFC 4180: quoted fields may hold commas, quotes and line ends).

#include <map>
#include <string>
#include <vector>

namespace prismopt {

/// One line by column name.
class CsvRow {
public:
    explicit CsvRow(std::map<std::string, std::string> fields) : fields_(std::move(fields)) {}

    /// Empty where the file has no such column or nothing in it.
    std::string text(const std::string& column) const;
    /// The number in a column; zero where there is none.
    double number(const std::string& column) const;
    int count(const std::string& column) const;
    /// Fills a column that is empty.
    void fill(const std::string& column, const std::string& value);
    void replace(const std::string& column, const std::string& value);

private:
    std::map<std::string, std::string> fields_;
};

/// The fields of every line; a file of this kind need not have a header.
std::vector<std::vector<std::string>> csv_fields(const std::string& text);

/// A whole file. Throws InputError when it cannot be read.
std::string read_text(const std::string& path);

/// All lines of a file. Throws InputError when it cannot be read or a line has another number of fields than the header.
std::vector<CsvRow> read_csv(const std::string& path);
/// The same from text already in memory (`path` is for messages).
std::vector<CsvRow> parse_csv(const std::string& text, const std::string& path);

}  // namespace prismopt
