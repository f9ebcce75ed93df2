#include "io/front_columns.hpp"
#include "io/report.hpp"
#include "io/study_notes.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace {

/// RFC 4180: a field with a comma, a quote or a line break is quoted, and quotes in it are doubled.
std::string quoted(const std::string& field)
{
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
        return field;
    }
    std::string text;
    for (const char c : field) {
        text.append(c == '"' ? 2 : 1, c);
    }
    return fmt::format("\"{}\"", text);
}

/// Column name with its unit: training_time_p99 in "s" is training_time_p99_s.
std::string with_units(std::string_view name, std::string_view limit, std::string_view units)
{
    const std::string_view suffix = units == "s" ? "_s" : units == "B" ? "_bytes" : units == "USD" ? "_usd" : "";
    return fmt::format("{}{}{}", name, limit, suffix);
}

std::string header(const Results& results)
{
    std::string line = "point";
    for (const Axis& axis : results.axes) {
        line += fmt::format(",{}", quoted(axis.name));
    }
    line += ",total_gpus,dominated,provisional,quantiles_of,step_of_phase,draws";
    for (const auto& column : front_estimates()) {
        for (const std::string_view limit : {"", "_low", "_high"}) {
            line += fmt::format(",{}", with_units(column.name, limit, column.units));
        }
    }
    for (const auto& column : front_numbers()) {
        line += fmt::format(",{}", with_units(column.name, "", column.units));
    }
    return line + "\n";
}

std::string row(const Results& results, const FrontPoint& point, int phases)
{
    std::string line = std::to_string(point.index);
    for (std::size_t a = 0; a < results.axes.size(); ++a) {
        line += fmt::format(",{}", quoted(results.axes[a].labels.at(static_cast<std::size_t>(point.point.at(a)))));
    }
    line += fmt::format(",{},{},{},{},{},{}", point.prediction.gpus, point.dominated ? 1 : 0, results.provisional ? 1 : 0,
                        quantiles_of(results.study.nodes_known), phases > 0 ? fmt::format("1 of {}", phases) : "",
                        point.prediction.draws);
    for (const auto& column : front_estimates()) {
        const Estimate& estimate = column.in(point);
        line += fmt::format(",{},{},{}", estimate.value, estimate.low, estimate.high);
    }
    for (const auto& column : front_numbers()) {
        line += fmt::format(",{}", column.in(point));
    }
    return line + "\n";
}

}  // namespace

std::string front_csv(const Results& results)
{
    std::string text = header(results);
    const int phases = study_notes(results).phases;
    for (const FrontPoint& point : results.front) {
        text += row(results, point, phases);
    }
    return text;
}

}  // namespace prismopt
