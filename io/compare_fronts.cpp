#include "io/compare_fronts.hpp"

#include "io/aligned.hpp"
#include "io/plan_words.hpp"
#include "io/reading_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

const Estimate& best(const Results& results, std::size_t objective)
{
    return std::min_element(results.front.begin(), results.front.end(),
                            [objective](const FrontPoint& a, const FrontPoint& b) {
                                return a.objectives[objective].value < b.objectives[objective].value;
                            })
        ->objectives[objective];
}

constexpr const char* another_job = "of another job";

/// Why limits of the two say nothing of their plans; empty: they do.
std::string unlike(const NamedResults& a, const NamedResults& b)
{
    if (!same_job(a, b)) {
        return another_job;
    }
    if (a.results.study.nodes_known != b.results.study.nodes_known) {
        return "over other nodes";
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
    const std::string change = fmt::format("{:+.2f} %", 100.0 * (b.value / a.value - 1.0));
    if (!why_unlike.empty()) {
        return change + ", " + why_unlike;
    }
    if (a.low == a.high && b.low == b.high) {
        return change;
    }
    const bool apart = a.high < b.low || b.high < a.low;
    return change + (apart ? ", limits apart" : ", limits overlap: draws do not tell");
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
            rows.back().push_back(limited(best(studies[s].results, k), units[k]));
            if (s > 0) {
                rows.back().push_back(gain(best(first.results, k), best(studies[s].results, k), unlike(first, studies[s])));
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
    return aligned(rows, plan_column) +
           (any ? "dominated by: a point of that study is better, by limits that are apart, in all that is not equal\n"
                : "No point surely dominates another.\n");
}

}  // namespace prismopt
