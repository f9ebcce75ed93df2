#include "io/report/result_text.hpp"

#include "io/base/percent.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>

#include <cmath>

namespace prismopt {

namespace {

struct StyledNumber {
    std::string figure;
    std::string unit;

    std::string text() const { return unit.empty() ? figure : figure + " " + unit; }
};

template <class T>
StyledNumber styled(const ResultRow<T>& row, double value)
{
    const int digits = row.facts.style.digits;
    if (row.facts.style.kind == NumberStyle::Kind::percent) {
        return {.figure = percent_figure(value, digits), .unit = "%"};
    }
    if (row.units == "s" && !std::isfinite(value)) {
        return {.figure = "never", .unit = ""};
    }
    const ReadingUnit unit = reading_unit(row.units, value);
    const bool fixed = row.facts.style.kind == NumberStyle::Kind::decimals;
    const double scaled = value / unit.size;
    return {.figure = fixed ? fmt::format("{:.{}f}", scaled, digits) : fmt::format("{:.{}g}", scaled, digits),
            .unit = unit.name};
}

StyledNumber styled_number(const PlanResults& results, std::string_view name)
{
    const ResultRow<double>& row = plan_result<double>(name);
    return styled(row, row.of(results));
}

}  // namespace

std::string number_text(const PlanResults& results, std::string_view name)
{
    return styled_number(results, name).text();
}

std::string number_figure(const PlanResults& results, std::string_view name)
{
    return styled_number(results, name).figure;
}

std::string estimate_text(const PlanResults& results, std::string_view name)
{
    const ResultRow<Estimate>& row = plan_result<Estimate>(name);
    return styled(row, row.of(results).value).text();
}

}  // namespace prismopt
