#include "io/report/space_counts.hpp"

#include "io/report/aligned.hpp"
#include "model/plan/plan.hpp"

#include <fmt/format.h>

namespace prismopt {

SpaceCounts space_counts(std::uint64_t feasible, const std::vector<Rejected>& rejected)
{
    SpaceCounts counts{feasible, feasible, feasible};
    for (const Rejected& reason : rejected) {
        counts.looked_at += reason.count;
        counts.plans += names_no_plan(reason.reason) ? 0 : reason.count;
    }
    return counts;
}

std::string share_of(std::uint64_t count, std::uint64_t whole)
{
    return fmt::format("{:.1f} %", whole == 0 ? 0.0 : 100.0 * static_cast<double>(count) / static_cast<double>(whole));
}

std::string space_text(std::uint64_t combinations, std::uint64_t feasible, const std::vector<Rejected>& rejected)
{
    const SpaceCounts counts = space_counts(feasible, rejected);
    const std::string share = fmt::format("{} feasible ({})", feasible, share_of(counts.feasible, counts.plans));
    std::string text = counts.looked_at < combinations
                           ? fmt::format("Space: {} combinations of values, of which {} were examined: {} plans, {}",
                                         combinations, counts.looked_at, counts.plans, share)
                           : fmt::format("Space: {} plans, {}", counts.plans, share);
    constexpr std::size_t reason_column = 3;
    std::vector<std::vector<std::string>> rows;
    for (const Rejected& reason : rejected) {
        if (reason.count > 0 && !names_no_plan(reason.reason)) {
            rows.push_back({"", std::to_string(reason.count), share_of(reason.count, counts.plans), reason.reason});
        }
    }
    text += rows.empty() ? "\n" : "; infeasible:\n" + aligned(rows, reason_column);
    if (counts.plans < counts.looked_at) {
        text += fmt::format(
            "  {} of {} combinations of values are not plans of their own: they duplicate another plan, or have no defined "
            "schedule\n",
            counts.looked_at - counts.plans, counts.looked_at);
    }
    return text;
}

}  // namespace prismopt
