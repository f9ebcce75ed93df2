#include "optimizer/numerics/numerics_plots.hpp"

#include "io/plots/xy_plots.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace prismopt {

namespace {

using Json = nlohmann::ordered_json;

double value_of(const Json& row, const std::string& column)
{
    return row[column].is_number() ? row[column].get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// One line for each value of `label`, in the order of the rows.
std::vector<PlotSeries> lines_of(const std::vector<Json>& rows, const std::string& label,
                                 const std::string& x, const std::string& y)
{
    std::vector<PlotSeries> lines;
    for (const Json& row : rows) {
        const auto name = row[label].get<std::string>();
        auto line =
            std::find_if(lines.begin(), lines.end(), [&](const PlotSeries& of) { return of.label == name; });
        if (line == lines.end()) {
            line = lines.insert(lines.end(), {.label = name, .points = {}, .joined = true});
        }
        line->points.push_back(plot_point(value_of(row, x), value_of(row, y)));
    }
    return lines;
}

std::vector<Json> chosen_rows(const std::vector<NumericsTable>& tables, const std::string& name,
                              bool (*chosen)(const Json&))
{
    std::vector<Json> rows;
    for (const NumericsTable& table : tables) {
        if (table.name == name) {
            std::copy_if(table.rows.begin(), table.rows.end(), std::back_inserter(rows), chosen);
        }
    }
    return rows;
}

}  // namespace

std::string numerics_svg(const std::vector<NumericsTable>& tables)
{
    std::vector<Plot> plots;
    const auto add = [&plots](const char* title, const char* x_title, const char* y_title,
                              std::vector<PlotSeries> lines) {
        if (!lines.empty()) {
            plots.push_back({title, x_title, y_title, std::move(lines)});
        }
    };
    add("Attention in bf16, every intermediate rounded", "positions", "largest deviation of the output",
        lines_of(chosen_rows(tables, "length",
                             [](const Json& row) { return row["arithmetic"] == "all-rounded"; }),
                 "kernel", "sequence", "forward_max"));
    const auto training = chosen_rows(tables, "training", [](const Json& row) {
        const auto change = row["change"].get<std::string>();
        return change.ends_with(" in products") || change == "flash instead of plain attention, fp16";
    });
    add("Weights of a small training", "step", "distance over RMS of weights",
        lines_of(training, "change", "step", "wasserstein"));
    add("Loss of that training", "step", "nats", lines_of(training, "change", "step", "loss"));
    return plots_svg(plots);
}

}  // namespace prismopt
