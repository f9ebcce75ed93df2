#include "optimizer/numerics/numerics_text.hpp"

#include "io/base/aligned.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

using Json = nlohmann::ordered_json;

std::string cell(const Json& value)
{
    if (value.is_null()) {
        return "not finite";
    }
    if (value.is_boolean()) {
        return value.get<bool>() ? "yes" : "no";
    }
    if (value.is_number_float()) {
        return fmt::format("{:.3g}", value.get<double>());
    }
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Header and rows of a table. Columns whose values are all equal are omitted, and named in `same`.
std::vector<std::vector<std::string>> cells(const NumericsTable& table, std::string& same)
{
    std::vector<std::string> header;
    for (const auto& item : table.rows.front().items()) {
        const std::string value = cell(item.value());
        const bool varies = item.value().is_number_float() || item.value().is_null() ||
                            table.rows.size() == 1 ||
                            std::any_of(table.rows.begin(), table.rows.end(),
                                        [&](const Json& row) { return cell(row[item.key()]) != value; });
        if (varies) {
            header.push_back(item.key());
        } else {
            same += fmt::format("{}{} {}", same.empty() ? "" : ", ", item.key(), value);
        }
    }
    std::vector<std::vector<std::string>> rows{header};
    for (const Json& row : table.rows) {
        std::vector<std::string>& line = rows.emplace_back();
        for (const std::string& column : header) {
            line.push_back(cell(row[column]));
        }
    }
    for (std::string& title : rows.front()) {
        std::replace(title.begin(), title.end(), '_', ' ');
    }
    return rows;
}

constexpr const char* measure =
    "Deviation: difference from the same operation in FP64, divided by the RMS of the FP64 result.";

std::string cost_text(const NumericsRun& run)
{
    return fmt::format("Computed in {:.0f} s by {} thread{} ({:.0f} s of processor time).", run.seconds,
                       run.threads, run.threads == 1 ? "" : "s", run.processor_seconds);
}

/// Rows of the tables of this name.
std::vector<Json> rows_of_table(const std::vector<NumericsTable>& tables, const std::string& table)
{
    std::vector<Json> found;
    for (const NumericsTable& of : tables) {
        if (of.name == table) {
            found.insert(found.end(), of.rows.begin(), of.rows.end());
        }
    }
    return found;
}

}  // namespace

std::string numerics_text(const std::vector<NumericsTable>& tables, const NumericsRun& run)
{
    std::string text;
    for (const NumericsTable& table : tables) {
        std::string same;
        const auto rows = cells(table, same);
        text += table.title + "\n" + (table.note.empty() ? "" : table.note + "\n") +
                (same.empty() ? "" : "All: " + same + "\n") + "\n" + aligned(rows, 0) + "\n";
    }
    return text + measure + "\n" + cost_text(run) + "\n";
}

std::string numerics_markdown(const std::vector<NumericsTable>& tables, const NumericsRun& run)
{
    std::string text = fmt::format(
        "# What number formats and attention kernels do to results\n\nWritten by `{}`. {} {} What the "
        "columns mean: "
        "[docs/methods/result-pages.md](../docs/methods/result-pages.md#numericsmd).\n",
        run.command, measure, cost_text(run));
    text += run.plot.empty()
                ? ""
                : fmt::format("\n![Attention by sequence length, weights and loss of a small training]({})\n",
                              run.plot);
    for (const NumericsTable& table : tables) {
        std::string same;
        const auto rows = cells(table, same);
        text += fmt::format("\n## {}\n\n{}{}{}", table.title, table.note, table.note.empty() ? "" : "\n\n",
                            same.empty() ? "" : "All: " + same + ".\n\n");
        for (std::size_t i = 0; i < rows.size(); ++i) {
            text += fmt::format("| {} |\n", fmt::join(rows[i], " | "));
            if (i == 0) {
                text += "|";
                for (const auto& item : rows[i]) {
                    const auto& value = table.rows.front();
                    std::string key = item;
                    std::replace(key.begin(), key.end(), ' ', '_');
                    text += value[key].is_string() ? " --- |" : " ---: |";
                }
                text += "\n";
            }
        }
    }
    return text;
}

Json numerics_json(const std::vector<NumericsTable>& tables, const NumericsRun& run)
{
    Json json{{"command", run.command},
              {"seed", run.seed},
              {"seconds", run.seconds},
              {"processor_seconds", run.processor_seconds},
              {"threads", run.threads}};
    for (const NumericsTable& table : tables) {
        json["tables"][table.name] = table.rows;
    }
    return json;
}

std::string numerics_toml(const std::vector<NumericsTable>& tables, const NumericsRun& run)
{
    std::string text = fmt::format(
        "# RMS deviation from FP64 by class of operators, kernel and format, for normal inputs and rounding "
        "to nearest even.\n"
        "# docs/methods/numerics.md. Written by `{}`.\n\nseed = {}\n",
        run.command, run.seed);
    const auto value = [](const Json& of) {
        return of.is_null() ? std::string("inf") : fmt::format("{:.4g}", of.get<double>());
    };
    text += "attention = [\n";
    for (const Json& row : rows_of_table(tables, "attention")) {
        text += fmt::format("    {{ format = {}, kernel = {}, tile = {}, forward = {}, backward = {} }},\n",
                            row["format"].dump(), row["kernel"].dump(), row["tile"].dump(),
                            value(row["forward_rms"]), value(row["backward_rms"]));
    }
    text += "]\nlinear = [\n";
    for (const Json& row : rows_of_table(tables, "linear")) {
        if (row["inputs"] == "normal" && row["rounding"] == "nearest-even") {
            text += fmt::format("    {{ format = {}, forward = {}, gradients = {} }},\n",
                                row["format"].dump(), value(row["forward_rms"]), value(row["gradients_rms"]));
        }
    }
    return text + "]\n";
}

}  // namespace prismopt
