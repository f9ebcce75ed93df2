#include "io/compare/compare_fronts.hpp"

#include "io/base/aligned.hpp"
#include "io/base/percent.hpp"
#include "io/report/deadline_risk.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/report/study_notes.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace prismopt {

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::vector<ReadingUnit> units_of(const std::vector<NamedResults>& studies)
{
    std::vector<ReadingUnit> units;
    const std::vector<ObjectiveInfo>& objectives = studies.front().results.objectives;
    for (std::size_t k = 0; k < objectives.size(); ++k) {
        double largest = 0.0;
        for (const NamedResults& study : studies) {
            for (const FrontPoint& point : study.results.front) {
                largest = std::max(largest, point.objectives[k].value);
            }
        }
        units.push_back(reading_unit(objectives[k].units, largest));
    }
    return units;
}

std::string named(const ObjectiveInfo& objective, const ReadingUnit& unit)
{
    return unit.name.empty() ? objective.name : fmt::format("{}, {}", objective.name, unit.name);
}

std::string limited(const Estimate& e, const ReadingUnit& unit)
{
    return e.high > e.low ? fmt::format("{:.5g} ({:.5g} to {:.5g})", e.value / unit.size, e.low / unit.size,
                                        e.high / unit.size)
                          : fmt::format("{:.5g}", e.value / unit.size);
}

const FrontPoint& best(const Results& results, std::size_t objective)
{
    return *std::min_element(results.front.begin(), results.front.end(),
                             [objective](const FrontPoint& a, const FrontPoint& b) {
                                 return a.objectives[objective].value < b.objectives[objective].value;
                             });
}

/// Times, and what is paid or used by time: the model's error is one of time.
bool in_proportion_to_time(const ObjectiveInfo& objective)
{
    constexpr std::array<std::string_view, 5> units{"s", "h", "USD", "J", "kg"};
    return std::find(units.begin(), units.end(), objective.units) != units.end();
}

constexpr std::string_view missed = "miss_probability";

/// What the best value of an objective may be by the error of the model; of a probability of missing the
/// deadline, its mean over the error and those at its limits. NaN where that is not known, or the
/// objective is no multiple of time.
Estimate with_model_error(const Results& results, std::size_t objective)
{
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    const FrontPoint& point = best(results, objective);
    const ObjectiveInfo& info = results.objectives[objective];
    if (info.name == missed) {
        const auto risk = deadline_risk(point, study_notes(results).deadline);
        return risk ? Estimate{risk->mean, risk->low, risk->high} : Estimate{unknown, unknown, unknown};
    }
    const double value = in_proportion_to_time(info) ? point.objectives[objective].value : unknown;
    return {value, value * point.model_low, value * point.model_high};
}

bool disjoint(const Estimate& a, const Estimate& b) { return a.high < b.low || b.high < a.low; }

constexpr const char* another_job = "different workload";
constexpr const char* provisional_front = "provisional";

/// Why limits of the two carry no information about their plans; empty: they do.
std::string unlike(const NamedResults& a, const NamedResults& b)
{
    if (!same_job(a, b)) {
        return another_job;
    }
    if (a.results.study.nodes_known != b.results.study.nodes_known) {
        return "different nodes";
    }
    return a.results.provisional || b.results.provisional ? provisional_front : "";
}

/// How `b` does against `a`, both to be minimised, and how much that says.
std::string gain(const Estimate& a, const Estimate& b, const std::string& why_unlike)
{
    if (why_unlike == another_job) {
        return why_unlike;  // no plan gained that
    }
    if (a.value == b.value) {
        return "equal";
    }
    const std::string change = change_text(b.value / a.value - 1.0, 2);
    if (!why_unlike.empty()) {
        return change + ", " + why_unlike;
    }
    if (a.low == a.high && b.low == b.high) {
        return change;
    }
    return change + (disjoint(a, b) ? ", confidence intervals disjoint"
                                    : ", confidence intervals overlap: these draws cannot rank them");
}

/// What the error of the model makes of the best value of a study, and whether it is apart
/// from the first's; empty: unknown.
std::string with_model_text(const std::vector<NamedResults>& studies, std::size_t study,
                            std::size_t objective, const ReadingUnit& unit)
{
    const NamedResults& first = studies.front();
    const Estimate e = with_model_error(studies[study].results, objective);
    if (!std::isfinite(e.low) || !std::isfinite(e.high)) {
        return "";
    }
    std::string text =
        first.results.objectives[objective].name == missed
            ? risk_with_error_text({e.low, e.high, e.value})
            : fmt::format("{:.4g} to {:.4g} {}", e.low / unit.size, e.high / unit.size, unit.name);
    const Estimate of_first = with_model_error(first.results, objective);
    if (study > 0 && std::isfinite(of_first.low) && unlike(first, studies[study]).empty()) {
        text += disjoint(of_first, e) ? ", prediction intervals disjoint" : ", prediction intervals overlap";
    }
    return text;
}

/// Better beyond what the draws leave open in one objective or more, and as good in the others.
bool surely_dominates(const FrontPoint& one, const FrontPoint& other)
{
    bool better = false;
    for (std::size_t k = 0; k < one.objectives.size(); ++k) {
        const Estimate& a = one.objectives[k];
        const Estimate& b = other.objectives[k];
        const bool exact = a.low == a.high && b.low == b.high;
        if (!(exact ? a.value <= b.value : a.high < b.low)) {
            return false;
        }
        better = better || a.value < b.value;
    }
    return better;
}

/// Studies of which a point dominates this one of study `own`. Provisional points are optimistic, and other
/// jobs and nodes carry no information.
std::string dominated_by(const std::vector<NamedResults>& studies, const std::vector<std::string>& names,
                         std::size_t own, const FrontPoint& point)
{
    constexpr std::size_t most = 3;
    std::vector<std::string> by;
    for (std::size_t s = 0; s < studies.size(); ++s) {
        const std::vector<FrontPoint>& front = studies[s].results.front;
        if (unlike(studies[s], studies[own]).empty() &&
            std::any_of(front.begin(), front.end(),
                        [&](const FrontPoint& other) { return surely_dominates(other, point); })) {
            by.push_back(names[s]);
        }
    }
    if (by.size() <= most) {
        return listed(by);
    }
    return fmt::format("{} and {} others", listed({by.begin(), by.begin() + most}), by.size() - most);
}

}  // namespace

std::vector<std::vector<std::string>> best_rows(const std::vector<NamedResults>& studies)
{
    const std::vector<std::string> names = study_names(studies);
    Rows rows{{"objective", "study", "best", fmt::format("against {}", names.front()),
               "including the model error"}};
    const std::vector<ReadingUnit> units = units_of(studies);
    const NamedResults& first = studies.front();
    for (std::size_t k = 0; k < units.size(); ++k) {
        for (std::size_t s = 0; s < studies.size(); ++s) {
            const Estimate& here = best(studies[s].results, k).objectives[k];
            const std::string against =
                s == 0 ? "" : gain(best(first.results, k).objectives[k], here, unlike(first, studies[s]));
            rows.push_back({named(first.results.objectives[k], units[k]), names[s], limited(here, units[k]),
                            against, with_model_text(studies, s, k, units[k])});
        }
    }
    return rows;
}

std::vector<BestValue> best_values(const std::vector<NamedResults>& studies, std::size_t study)
{
    const NamedResults& first = studies.front();
    const NamedResults& own = studies[study];
    if (own.results.front.empty()) {
        return {};
    }
    std::vector<BestValue> values;
    for (std::size_t k = 0; k < first.results.objectives.size(); ++k) {
        const FrontPoint& point = best(own.results, k);
        BestValue value{.point = point.index,
                        .plan = plan_words(own.results, point),
                        .value = point.objectives[k],
                        .with_model_error = with_model_error(own.results, k)};
        const std::string why_unlike = unlike(first, own);
        if (study > 0 && !first.results.front.empty() &&
            (why_unlike.empty() || why_unlike == provisional_front)) {
            value.change = value.value.value / best(first.results, k).objectives[k].value - 1.0;
        }
        values.push_back(value);
    }
    return values;
}

std::string fronts_text(const std::vector<NamedResults>& studies)
{
    Rows rows{{"study", "point", "GPUs", "plan"}};
    const std::vector<ReadingUnit> units = units_of(studies);
    const std::vector<std::string> names = study_names(studies);
    for (std::size_t k = 0; k < units.size(); ++k) {
        rows.front().push_back(named(studies.front().results.objectives[k], units[k]));
    }
    rows.front().emplace_back("dominated by");
    std::vector<std::pair<double, std::vector<std::string>>> lines;
    bool any = false;
    for (std::size_t s = 0; s < studies.size(); ++s) {
        for (const FrontPoint& point : studies[s].results.front) {
            std::vector<std::string> row{names[s], std::to_string(point.index),
                                         std::to_string(point.prediction.gpus),
                                         plan_words(studies[s].results, point)};
            for (std::size_t k = 0; k < units.size(); ++k) {
                row.push_back(fmt::format("{:.5g}", point.objectives[k].value / units[k].size));
            }
            row.push_back(dominated_by(studies, names, s, point));
            any = any || !row.back().empty();
            lines.emplace_back(point.objectives.front().value, std::move(row));
        }
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& line : lines) {
        rows.push_back(std::move(line.second));
    }
    constexpr std::size_t plan_column = 3;
    return aligned(rows, plan_column) +
           (any ? "dominated by: a point of that study is better in every objective that differs, "
                  "with disjoint confidence intervals\n"
                : "No point dominates another beyond the sampling error.\n");
}

}  // namespace prismopt
