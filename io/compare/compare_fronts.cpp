#include "io/compare/compare_fronts.hpp"

#include "io/base/aligned.hpp"
#include "io/base/percent.hpp"
#include "io/report/front/plan_words.hpp"
#include "io/toml/reading_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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
    return e.high > e.low ? fmt::format("{:.5g} ({:.5g} to {:.5g})", e.value / unit.size, e.low / unit.size, e.high / unit.size)
                          : fmt::format("{:.5g}", e.value / unit.size);
}

const FrontPoint& best(const Results& results, std::size_t objective)
{
    return *std::min_element(results.front.begin(), results.front.end(), [objective](const FrontPoint& a, const FrontPoint& b) {
        return a.objectives[objective].value < b.objectives[objective].value;
    });
}

/// Times, and what is paid or used by time: the model's error is one of time.
bool in_proportion_to_time(const ObjectiveInfo& objective)
{
    constexpr std::array<std::string_view, 5> units{"s", "h", "USD", "J", "kg"};
    return std::find(units.begin(), units.end(), objective.units) != units.end();
}

/// What the objective may be by the error of the model; NaN where that is not known.
Estimate with_model_error(const FrontPoint& point, std::size_t objective)
{
    const double value = point.objectives[objective].value;
    return {value, value * point.model_low, value * point.model_high};
}

bool apart(const Estimate& a, const Estimate& b) { return a.high < b.low || b.high < a.low; }

constexpr const char* another_job = "different workload";

/// Why limits of the two say nothing of their plans; empty: they do.
std::string unlike(const NamedResults& a, const NamedResults& b)
{
    if (!same_job(a, b)) {
        return another_job;
    }
    if (a.results.study.nodes_known != b.results.study.nodes_known) {
        return "different nodes";
    }
    return a.results.provisional || b.results.provisional ? "provisional" : "";
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
    return change +
           (apart(a, b) ? ", confidence intervals disjoint" : ", confidence intervals overlap: these draws cannot rank them");
}

/// One row below an objective: what the model's error makes of it; nothing where no study knows.
std::vector<std::string> model_row(const std::vector<NamedResults>& studies, std::size_t objective, const ReadingUnit& unit)
{
    std::vector<std::string> row{"  including the model error"};
    const Estimate first = with_model_error(best(studies.front().results, objective), objective);
    bool known = false;
    for (std::size_t s = 0; s < studies.size(); ++s) {
        const Estimate e = with_model_error(best(studies[s].results, objective), objective);
        const bool here = std::isfinite(e.low) && std::isfinite(e.high);
        known = known || here;
        row.push_back(here ? fmt::format("{:.4g} to {:.4g} {}", e.low / unit.size, e.high / unit.size, unit.name) : "unknown");
        if (s > 0) {
            const bool comparable = here && std::isfinite(first.low) && unlike(studies.front(), studies[s]).empty();
            row.emplace_back(!comparable       ? ""
                             : apart(first, e) ? "prediction intervals disjoint"
                                               : "prediction intervals overlap");
        }
    }
    return known ? row : std::vector<std::string>{};
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

/// Studies of which a point dominates this one of study `own`. Provisional points flatter, and other jobs and nodes say nothing.
std::string dominated_by(const std::vector<NamedResults>& studies, std::size_t own, const FrontPoint& point)
{
    std::string by;
    for (std::size_t s = 0; s < studies.size(); ++s) {
        const std::vector<FrontPoint>& front = studies[s].results.front;
        if (unlike(studies[s], studies[own]).empty() &&
            std::any_of(front.begin(), front.end(), [&](const FrontPoint& other) { return surely_dominates(other, point); })) {
            by += study_letter(s);
        }
    }
    return by;
}

}  // namespace

std::vector<std::vector<std::string>> best_rows(const std::vector<NamedResults>& studies)
{
    Rows rows{{"best"}};
    for (std::size_t s = 0; s < studies.size(); ++s) {
        rows.front().push_back(study_letter(s));
        if (s > 0) {
            rows.front().push_back(fmt::format("{} against A", study_letter(s)));
        }
    }
    const std::vector<ReadingUnit> units = units_of(studies);
    const NamedResults& first = studies.front();
    for (std::size_t k = 0; k < units.size(); ++k) {
        rows.push_back({named(first.results.objectives[k], units[k])});
        for (std::size_t s = 0; s < studies.size(); ++s) {
            const Estimate& here = best(studies[s].results, k).objectives[k];
            rows.back().push_back(limited(here, units[k]));
            if (s > 0) {
                rows.back().push_back(gain(best(first.results, k).objectives[k], here, unlike(first, studies[s])));
            }
        }
        if (in_proportion_to_time(first.results.objectives[k])) {
            if (auto row = model_row(studies, k, units[k]); !row.empty()) {
                rows.push_back(std::move(row));
            }
        }
    }
    return rows;
}

std::string fronts_text(const std::vector<NamedResults>& studies)
{
    Rows rows{{"", "point", "GPUs", "plan"}};
    const std::vector<ReadingUnit> units = units_of(studies);
    for (std::size_t k = 0; k < units.size(); ++k) {
        rows.front().push_back(named(studies.front().results.objectives[k], units[k]));
    }
    rows.front().emplace_back("dominated by");
    std::vector<std::pair<double, std::vector<std::string>>> lines;
    bool any = false;
    for (std::size_t s = 0; s < studies.size(); ++s) {
        for (const FrontPoint& point : studies[s].results.front) {
            std::vector<std::string> row{study_letter(s), std::to_string(point.index), std::to_string(point.prediction.gpus),
                                         plan_words(studies[s].results, point)};
            for (std::size_t k = 0; k < units.size(); ++k) {
                row.push_back(fmt::format("{:.5g}", point.objectives[k].value / units[k].size));
            }
            row.push_back(dominated_by(studies, s, point));
            any = any || !row.back().empty();
            lines.emplace_back(point.objectives.front().value, std::move(row));
        }
    }
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& line : lines) {
        rows.push_back(std::move(line.second));
    }
    constexpr std::size_t plan_column = 3;
    return aligned(rows, plan_column) + (any ? "dominated by: a point of that study is better in every objective that differs, "
                                               "with disjoint confidence intervals\n"
                                             : "No point dominates another beyond the sampling error.\n");
}

}  // namespace prismopt
