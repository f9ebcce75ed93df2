#include "io/base/csv.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace prismopt {

std::string CsvRow::text(const std::string& column) const
{
    const auto found = fields_.find(column);
    return found == fields_.end() ? "" : found->second;
}

double CsvRow::number(const std::string& column) const
{
    const std::string field = text(column);
    const char* begin = field.data();
    double value = 0.0;
    const auto [end, error] = std::from_chars(begin, begin + field.size(), value);
    return error == std::errc{} && end == begin + field.size() && std::isfinite(value) ? value : 0.0;
}

int CsvRow::count(const std::string& column) const
{
    const double value = number(column);
    return value >= 1.0 && value <= 1e9 && value == std::floor(value) ? static_cast<int>(value) : 0;
}

namespace {

/// Counts the fields of a table, each of which takes some hundred bytes of memory however short it is.
class FieldCount {
public:
    explicit FieldCount(const std::string& path) : path_(path) {}

    void add(const TableLine& line)
    {
        constexpr std::size_t most = 8'000'000;
        fields_ += 1 + line.fields.size();
        if (fields_ > most) {
            throw InputError(
                fmt::format("{}:{}: has more than {} fields, which no table of measurements has; divide it",
                            path_, line.number, most));
        }
    }

private:
    const std::string& path_;
    std::size_t fields_ = 0;
};

}  // namespace

std::vector<CsvRow> parse_csv(const std::string& text, const std::string& path)
{
    std::vector<std::string> header;
    std::vector<CsvRow> rows;
    FieldCount count(path);
    const auto add = [&](const TableLine& line) {
        count.add(line);
        std::map<std::string, std::string> row;
        for (std::size_t i = 0; i < header.size(); ++i) {
            row.emplace(header[i], line.fields[i]);
        }
        rows.emplace_back(std::move(row));
    };
    read_table(text, path,
               {.start = [&](const std::vector<std::string>& names) { header = names; }, .line = add});
    return rows;
}

std::vector<std::vector<std::string>> csv_fields(const std::string& text, const std::string& path)
{
    std::vector<std::vector<std::string>> lines;
    FieldCount count(path);
    const auto add = [&](const TableLine& line) {
        count.add(line);
        lines.emplace_back(line.fields.begin(), line.fields.end());
    };
    read_table(text, path, {.start = {}, .line = add});
    return lines;
}

std::string read_text(const std::string& path, std::uint64_t limit)
{
    const auto refuse = [&path](const char* why) {
        throw InputError(fmt::format("{}: cannot be read ({}); give the path of a file", path, why));
    };
    if (std::error_code error; std::filesystem::is_directory(path, error)) {
        refuse("it is a directory");
    }
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        refuse(std::strerror(errno));
    }
    const auto refuse_size = [&] {
        throw InputError(fmt::format(
            "{}: has more than {} MiB, which no file of this kind has; give the file that was meant", path,
            limit >> 20U));
    };
    std::error_code unknown;
    if (std::filesystem::is_regular_file(path, unknown) &&
        std::filesystem::file_size(path, unknown) > limit) {
        refuse_size();
    }
    std::string text;
    std::vector<char> buffer(std::size_t{1} << 16U);
    while (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || stream.gcount() > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(stream.gcount()));
        if (text.size() > limit) {  // of a pipe or a device
            refuse_size();
        }
    }
    if (stream.bad()) {
        refuse("read error");
    }
    return text;
}

std::vector<CsvRow> read_csv(const std::string& path) { return parse_csv(read_text(path), path); }

}  // namespace prismopt
