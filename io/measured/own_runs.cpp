#include "io/measured/own_runs.hpp"

#include "io/base/input_error.hpp"
#include "io/base/utf8.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <variant>

namespace prismopt {

namespace {

namespace fs = std::filesystem;

constexpr const char* needed_columns[] = {"scenario", "design", "step_time_s"};

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

bool has_column(const std::vector<std::string>& header, const std::string& column)
{
    return std::find(header.begin(), header.end(), column) != header.end();
}

/// A run, or why it is none.
std::variant<PublishedRun, std::string> read_row(const CsvRow& row, const fs::path& table)
{
    if (row.text("scenario").empty()) {
        return "no scenario: name a file, relative to the table";
    }
    const std::string seconds = row.text("step_time_s");
    if (!(row.number("step_time_s") > 0.0) || !std::isfinite(row.number("step_time_s"))) {
        return seconds.empty() ? "no step time"
                               : fmt::format("step_time_s is \"{}\"; give a number of seconds above 0", printable(seconds));
    }
    const std::string memory = row.text("memory_gb");
    if (!memory.empty() && !(row.number("memory_gb") > 0.0 && std::isfinite(row.number("memory_gb")))) {
        return fmt::format("memory_gb is \"{}\"; give a number above 0, or nothing", printable(memory));
    }
    PublishedRun run;
    try {
        run.scenario = read_scenario((table.parent_path() / row.text("scenario")).string());
    } catch (const InputError& error) {
        return error.what();
    }
    run.source = row.text("source").empty() ? table.stem().string() : plain_text(row.text("source"));
    run.assumed = "nothing: the scenario says all";
    run.design = row.text("design");
    run.step_time = Seconds{row.number("step_time_s")};
    run.memory = Bytes{1e9 * row.number("memory_gb")};
    return run;
}

}  // namespace

bool table_has_column(const std::string& path, const std::string& column) { return has_column(header_of(path), column); }

OwnRuns read_own_runs(const std::string& folder)
{
    std::set<fs::path> tables;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".csv" && table_has_column(entry.path().string(), "scenario")) {
            tables.insert(entry.path());
        }
    }
    OwnRuns result;
    result.tables = static_cast<int>(tables.size());
    for (const fs::path& table : tables) {
        const std::vector<std::string> header = header_of(table.string());
        for (const char* column : needed_columns) {
            if (!has_column(header, column)) {
                throw InputError(fmt::format("{}: has no column {}; a table of own runs has the columns {}", table.string(),
                                             column, "scenario, design and step_time_s, and may have run, source and memory_gb"));
            }
        }
        int number = 0;
        for (const CsvRow& row : read_csv(table.string())) {
            ++number;
            const std::string label = row.text("run").empty() ? fmt::format("row {}", number) : plain_text(row.text("run"));
            auto read = read_row(row, table);
            if (const auto* reason = std::get_if<std::string>(&read)) {
                result.skipped.push_back({table.stem().string(), label, plain_text(*reason)});
                continue;
            }
            result.runs.push_back(std::move(std::get<PublishedRun>(read)));
            result.runs.back().name = label;
        }
    }
    return result;
}

}  // namespace prismopt
