#include "io/report/front/best_plan.hpp"

#include "io/base/percent.hpp"
#include "io/report/front/run_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace prismopt {

namespace {

std::string line_of(const Contest& contest)
{
    const PlanChance& first = *contest.plans.front();
    std::vector<std::uint64_t> points;
    for (const PlanChance* plan : contest.shortlist) {
        points.push_back(plan->index);
    }
    constexpr std::size_t most_named = 5;
    const std::size_t named = std::min(points.size(), most_named);
    const std::string list =
        points.size() < 2
            ? ""
            : fmt::format("; one of {} plans with probability {}: {}{}", points.size(),
                          chance_text(contest.shortlist.back()->cover),
                          fmt::join(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(named),
                                    ", "),
                          named < points.size() ? fmt::format(" and {} more", points.size() - named) : "");
    return fmt::format("  {:>6} GPUs: plan {} with probability {} (expected regret {}){}\n", contest.gpus,
                       first.index, chance_text(first.best), percent_text(first.regret), list);
}

}  // namespace

std::vector<Contest> contests(const Posterior& posterior)
{
    std::map<std::pair<int, int>, Contest> found;
    for (const PlanChance& plan : posterior.plans) {
        Contest& contest = found[{plan.objective, plan.gpus}];
        contest.gpus = plan.gpus;
        contest.objective = plan.objective;
        contest.plans.push_back(&plan);
        if (plan.shortlist > 0) {
            contest.shortlist.push_back(&plan);
        }
    }
    std::vector<Contest> result;
    for (auto& [key, contest] : found) {
        std::stable_sort(contest.plans.begin(), contest.plans.end(),
                         [](const PlanChance* a, const PlanChance* b) { return a->best > b->best; });
        std::sort(contest.shortlist.begin(), contest.shortlist.end(),
                  [](const PlanChance* a, const PlanChance* b) { return a->shortlist < b->shortlist; });
        result.push_back(std::move(contest));
    }
    return result;
}

std::string best_plan_section(const Results& results, WorkloadTask task)
{
    std::set<int> on_front;
    std::set<std::uint64_t> front;
    for (const FrontPoint& point : results.front) {
        on_front.insert(point.prediction.gpus);
        front.insert(point.index);
    }
    std::string lines;
    std::vector<int> differ;
    const std::vector<Contest> all = contests(results.posterior);
    for (const Contest& contest : all) {
        if (contest.objective == all.front().objective && on_front.contains(contest.gpus)) {
            lines += line_of(contest);
            if (!front.contains(contest.plans.front()->index)) {
                differ.push_back(contest.gpus);
            }
        }
    }
    std::string stay;
    for (const FrontPoint& point : results.front) {
        if (std::isfinite(point.chance_on_front)) {
            stay += fmt::format("{}{} {}", stay.empty() ? "" : ", ", point.index,
                                chance_text(point.chance_on_front));
        }
    }
    if (!lines.empty() && !stay.empty()) {
        lines += fmt::format("  Probability of staying on the front: {}\n", stay);
    }
    if (!differ.empty()) {
        lines += fmt::format("  Not on the front, which ignores the model error: those for {} GPUs.\n",
                             fmt::join(differ, ", "));
    }
    if (lines.empty()) {
        return "";
    }
    std::string objective = results.objectives[static_cast<std::size_t>(all.front().objective)].long_name;
    constexpr std::string_view usual = run_words(WorkloadTask::training).time;
    if (const std::size_t at = objective.find(usual); at != std::string::npos) {
        objective.replace(at, usual.size(), run_words(task).time);
    }
    return fmt::format(
        "Best plans by {}, given the model error (prismopt shortlist lists the plans to measure):\n{}\n",
        objective, lines);
}

}  // namespace prismopt
