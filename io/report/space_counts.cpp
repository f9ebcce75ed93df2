#include "io/report/space_counts.hpp"

#include "io/base/aligned.hpp"
#include "io/base/percent.hpp"
#include "io/scenario/variants.hpp"
#include "model/plan/plan.hpp"

#include <fmt/format.h>

namespace prismopt {

SpaceCounts space_counts(std::uint64_t feasible, const std::vector<Rejected>& rejected)
{
    SpaceCounts counts{.examined = feasible, .feasible = feasible};
    for (const Rejected& reason : rejected) {
        counts.examined += reason.count;
        if (names_no_plan(reason.reason)) {
            counts.not_plans += reason.count;
        } else {
            counts.infeasible += reason.count;
        }
    }
    return counts;
}

StudyEffort study_effort(const Results& results)
{
    StudyEffort sum;
    for (const EvaluatedPoint& point : results.evaluations) {
        sum.evaluated += point.rung > 0 ? 1 : 0;
        sum.draws += point.draws;
    }
    for (const FrontPoint& point : results.front) {
        sum.confirming += results.provisional ? 0 : point.prediction.draws;
    }
    return sum;
}

std::string share_of(std::uint64_t count, std::uint64_t whole)
{
    return percent_text(whole == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(whole));
}

std::string space_text(std::uint64_t combinations, std::uint64_t feasible,
                       const std::vector<Rejected>& rejected)
{
    const SpaceCounts counts = space_counts(feasible, rejected);
    if (counts.examined == 0) {
        return fmt::format("Space: {} combinations of values; how many are feasible was not counted\n",
                           combinations);
    }
    const auto with_share = [&counts](std::uint64_t count, const char* what) {
        return fmt::format("{} {} ({})", count, what, share_of(count, counts.examined));
    };
    std::string text = fmt::format(
        "Space: {} combinations of values{}: {}", combinations,
        counts.examined < combinations ? fmt::format(", of which {} were examined", counts.examined) : "",
        with_share(counts.feasible, "feasible plans"));
    text += counts.infeasible > 0 ? ", " + with_share(counts.infeasible, "infeasible") : "";
    text += counts.not_plans > 0 ? ", " + with_share(counts.not_plans, "duplicate or undefined") : "";
    constexpr std::size_t reason_column = 3;
    std::vector<std::vector<std::string>> rows;
    for (const Rejected& reason : rejected) {
        if (reason.count > 0 && !names_no_plan(reason.reason)) {
            rows.push_back(
                {"", std::to_string(reason.count), share_of(reason.count, counts.examined), reason.reason});
        }
    }
    text += rows.empty() ? "\n" : "; infeasible:\n" + aligned(rows, reason_column);
    if (counts.not_plans > 0) {
        text +=
            "  duplicate or undefined: the same plan under other values, or a schedule that is undefined for "
            "its values\n";
    }
    return text;
}

std::string variants_text(const VariantCounts& counts, std::uint64_t searched)
{
    std::uint64_t excluded = 0;
    std::vector<std::vector<std::string>> rows;
    for (const ExcludedVariants& of : counts.excluded) {
        excluded += of.count;
        rows.push_back(
            {"", std::to_string(of.count), share_of(of.count, counts.combinations), excluded_text(of)});
    }
    if (rows.empty()) {
        return "";
    }
    const std::uint64_t others = counts.combinations - excluded;
    const std::string tuned =
        searched > others ? fmt::format(" before tuning, which added {}", searched - others) : "";
    constexpr std::size_t reason_column = 3;
    return fmt::format(
        "Variants: {} combinations of the study's choices{}, of which {} are excluded and not searched:\n{}",
        counts.combinations, tuned, excluded, aligned(rows, reason_column));
}

}  // namespace prismopt
