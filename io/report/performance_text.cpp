#include "io/report/performance_text.hpp"

#include <fmt/format.h>

namespace prismopt {

std::optional<Performance> performance_of(const Results& results)
{
    Performance sum;
    for (const RankWork& rank : results.ranks) {
        sum.total_s += rank.wall_s;
        sum.busy_s += rank.busy_s;
        sum.idle_s += rank.idle_s;
        for (std::size_t activity = 0; activity < rank_activities.size(); ++activity) {
            sum.activity_s[activity] += rank.activity_s[activity];
        }
    }
    if (!(sum.total_s > 0.0)) {
        return std::nullopt;
    }
    const RankWork& first = results.ranks.front();
    sum.wall_s = first.wall_s;
    sum.rank_0_s = first.wall_s - first.busy_s - first.idle_s;
    return sum;
}

std::vector<std::string> performance_lines(const Results& results)
{
    const std::optional<Performance> known = performance_of(results);
    if (!known) {
        return {};
    }
    const std::size_t ranks = results.ranks.size();
    std::vector<std::string> lines{
        fmt::format("time of {} rank{} with {} thread{} each, {:.1f} s of the clock:", ranks,
                    ranks == 1 ? "" : "s", results.threads, results.threads == 1 ? "" : "s", known->wall_s)};
    const auto add = [&](const std::string& what, double seconds) {
        lines.push_back(
            fmt::format("  {:<46} {:>9.1f} s {:>4.0f} %", what, seconds, 100.0 * seconds / known->total_s));
    };
    for (std::size_t activity = 0; activity < rank_activities.size(); ++activity) {
        add(rank_activities[activity].meaning, known->activity_s[activity]);
    }
    add("waiting", known->idle_s);
    add("rank 0: strategy, posterior, messages, files", known->rank_0_s);
    if (ranks > 1) {
        add("other ranks: messages", known->total_s - known->busy_s - known->idle_s - known->rank_0_s);
    }
    return lines;
}

}  // namespace prismopt
