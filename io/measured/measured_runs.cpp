#include "io/measured/measured_runs.hpp"

#include "io/base/input_error.hpp"
#include "io/base/shell_word.hpp"
#include "io/toml/catalog_file.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace prismopt {

namespace {

namespace fs = std::filesystem;

constexpr const char* shipped_table = "published_runs.csv";

std::vector<std::string> header_of(const std::string& path)
{
    constexpr std::size_t longest = std::size_t{1} << 20U;  // other tables of the folder may have any size
    std::ifstream file(path, std::ios::binary);
    std::string beginning(longest, '\0');
    file.read(beginning.data(), static_cast<std::streamsize>(longest));
    beginning.resize(static_cast<std::size_t>(file.gcount()));
    const auto lines = csv_fields(beginning.substr(0, beginning.find_first_of("\r\n")), path);
    return lines.empty() ? std::vector<std::string>{} : lines.front();
}

bool contains(const std::vector<std::string>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

void check_header(const std::vector<std::string>& header, const std::string& path)
{
    const std::vector<std::string> known = run_columns();
    if (!contains(header, "design")) {
        throw InputError(fmt::format(
            "{}:1: has no column design; add it, with the plan of each run, such as gpus=64 tp=4 pp=4 "
            "(docs/accuracy.md)",
            path));
    }
    if (!contains(header, "step_time_s") && !contains(header, "tflops_per_gpu")) {
        throw InputError(fmt::format(
            "{}:1: has no column step_time_s; add it, with the seconds of an optimizer step, such as 12.9 "
            "(docs/accuracy.md)",
            path));
    }
    for (const std::string& column : header) {
        if (!contains(known, column) && !column.starts_with("note")) {
            const std::string near = nearest(column, known);
            throw InputError(fmt::format("{}:1: column {} is unknown, and would be ignored; {}", path,
                                         printable(column),
                                         near.empty() ? "remove it, or begin its name with note"
                                                      : fmt::format("did you mean {}?", near)));
        }
    }
}

std::vector<RunRow> read_rows(const std::vector<CsvRow>& table, const std::string& path)
{
    std::vector<RunRow> rows;
    for (const CsvRow& row : table) {
        rows.push_back(read_run_row(row, path, static_cast<int>(rows.size()) + 1));
    }
    return rows;
}

}  // namespace

std::vector<RunRow> shipped_run_rows()
{
    const std::string path = std::string("model/catalog/") + shipped_table;
    return read_rows(parse_csv(catalog_text(shipped_table), path), path);
}

bool table_has_column(const std::string& path, const std::string& column)
{
    return contains(header_of(path), column);
}

std::string how_to_normalise(const std::string& folder)
{
    return fmt::format(
        "published tables need prismopt's columns: python3 jobs/normalise_measurements.py {} OUT, then give "
        "OUT",
        shell_word(folder));
}

RunTables read_run_tables(const std::string& folder)
{
    if (!fs::is_directory(folder)) {
        throw InputError(folder +
                         ": is not a directory; give the one that contains the tables of measured runs");
    }
    std::set<fs::path> tables;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".csv") {
            tables.insert(entry.path());
        }
    }
    RunTables result;
    bool found = false;
    for (const fs::path& table : tables) {
        const std::string path = table.string();
        const std::vector<std::string> header = header_of(path);
        if (!contains(header, "design") && !contains(header, "scenario")) {
            result.not_read.push_back(table.filename().string());
            result.published = result.published || contains(header, "step_time_basis");
            continue;
        }
        found = true;
        check_header(header, path);
        for (RunRow& row : read_rows(read_csv(path), path)) {
            result.rows.push_back(std::move(row));
        }
    }
    if (!found) {
        throw InputError(
            fmt::format("{}: contains no table of measured runs, which has columns design and step_time_s "
                        "(docs/accuracy.md){}",
                        folder, result.published ? "; " + how_to_normalise(folder) : ""));
    }
    return result;
}

}  // namespace prismopt
