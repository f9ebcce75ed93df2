#include "io/measured/measured_runs.hpp"

#include "io/base/input_error.hpp"
#include "io/base/utf8.hpp"
#include "io/measured/measured_collectives.hpp"
#include "io/measured/measured_row.hpp"
#include "io/measured/measured_tables.hpp"
#include "io/measured/own_runs.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <utility>
#include <variant>

namespace prismopt {

namespace {

/// What makes two runs the same measurement.
std::string identity(const MeasuredRun& run)
{
    const ParallelPlan& p = run.plan;
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {:.4g}", run.workload.layers(), run.workload.hidden,
                       run.workload.heads(), static_cast<int>(run.workload.precision), run.phase().sequence,
                       run.phase().global_batch, run.cluster.accelerator.name, p.tp, p.pp, p.chunks, p.cp, p.ep, p.dp,
                       p.microbatch, run.measured_s);
}

/// Tables that look like runs but that the catalog does not describe.
void report_unknown_tables(const std::string& folder, MeasuredRuns& result)
{
    std::set<std::string> known;
    for (const MeasuredTable& table : measured_tables()) {
        known.insert(table.name);
    }
    std::set<std::string> unknown;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".csv" && !known.contains(entry.path().stem().string()) &&
            !table_has_column(entry.path().string(), "scenario")) {
            unknown.insert(entry.path().string());
        }
    }
    for (const std::string& path : unknown) {
        const bool of_runs = table_has_column(path, "step_time_basis");
        const std::vector<CsvRow> rows = of_runs ? read_csv(path) : std::vector<CsvRow>{};
        if (!rows.empty() && !rows.front().text("step_time_basis").empty()) {
            const std::string name = std::filesystem::path(path).stem().string();
            result.skipped.push_back(
                {name, name,
                 fmt::format("no description of this table ({} rows); give its runs with scenarios (docs/accuracy.md)",
                             rows.size())});
        } else if (const std::string name = std::filesystem::path(path).filename().string(); name != collectives_table) {
            result.not_read.push_back(name);
        }
    }
}

}  // namespace

MeasuredRuns read_measured_runs(const std::string& folder)
{
    MeasuredRuns result;
    std::set<std::string> seen;
    bool found = false;
    if (!std::filesystem::is_directory(folder)) {
        throw InputError(folder + ": is not a directory; give the one that contains the tables of measured runs");
    }
    for (const MeasuredTable& table : measured_tables()) {
        const std::string path = (std::filesystem::path(folder) / (table.name + ".csv")).string();
        if (!std::filesystem::exists(path)) {
            continue;
        }
        found = true;
        for (const CsvRow& row : read_csv(path)) {
            const std::string label = plain_text(fmt::format("{} row {}", table.name, row.text("row_id")));
            auto read = read_measured_row(table, row);
            if (const auto* refusal = std::get_if<std::string>(&read)) {
                result.skipped.push_back({table.source, label, plain_text(*refusal)});
                continue;
            }
            auto& run = std::get<MeasuredRun>(read);
            run.row = label + ": " + plain_text(run.row);
            if (!seen.insert(identity(run)).second) {
                result.skipped.push_back({table.source, label, "duplicate of another row"});
                continue;
            }
            result.runs.push_back(std::move(run));
        }
    }
    report_unknown_tables(folder, result);
    OwnRuns own = read_own_runs(folder);
    if (!found && own.tables == 0) {
        throw InputError(folder +
                         ": contains none of the tables of measured runs that the catalog describes, and no table of own runs "
                         "(docs/accuracy.md)");
    }
    result.own = std::move(own.runs);
    result.skipped.insert(result.skipped.end(), own.skipped.begin(), own.skipped.end());
    return result;
}

}  // namespace prismopt
