#include "io/report/outcome_text.hpp"

#include "io/base/percent.hpp"
#include "io/results/merge_results.hpp"
#include "search/strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace prismopt {
namespace {

/// Ranges that are still to be swept.
std::string sweeps_text(const Outcome& outcome)
{
    std::string text;
    const auto ranges_done = [](const SweepProgress& sweep) {
        return fmt::format("{} of {} parts of the space checked", grouped(sweep.done), grouped(sweep.total));
    };
    if (outcome.sweep && outcome.sweep->purpose == SweepPurpose::better) {
        text += ranges_done(*outcome.sweep) + " for better plans than those drawn, ";
    }
    if (outcome.uncovered) {
        text += ranges_done(*outcome.uncovered) + ", ";
    } else if (outcome.sweep && outcome.sweep->purpose == SweepPurpose::incomplete) {
        text += fmt::format("{} parts to check again, ", grouped(outcome.sweep->total - outcome.sweep->done));
    }
    return text;
}

std::string exact_text(const Outcome& outcome)
{
    if (outcome.complete && outcome.feasible == 0) {
        return "no feasible point";
    }
    std::string text = "incomplete: " + sweeps_text(outcome);
    if (outcome.complete) {
        text = outcome.proved ? "proved complete: " : "complete but not proved: ";
    }
    if (outcome.unchecked > 0) {
        text += fmt::format(
            "{} combinations excluded before it was known whether they are feasible; of the others ",
            grouped(outcome.unchecked));
    }
    text += fmt::format("{} feasible plans, {} excluded by their lower bounds, {} evaluated",
                        grouped(outcome.feasible), grouped(outcome.pruned), grouped(outcome.evaluated));
    if (!outcome.complete) {
        text += fmt::format(", {} open", grouped(outcome.open));
    }
    if (outcome.evaluated < outcome.drawn) {
        text += fmt::format(" ({} of them partly evaluated)", grouped(outcome.drawn - outcome.evaluated));
    }
    text += fmt::format(" (confidence {:g} %)", 100.0 * outcome.confidence);
    return text;
}

std::string end_text(const Outcome& outcome)
{
    if (outcome.end != SearchEnd::most_drawn) {
        return "";
    }
    return fmt::format("; stopped at the limit of {} evaluations", grouped(outcome.drawn));
}

std::string violation_text(const BoundViolation& violation)
{
    return fmt::format(
        "; bound violated: point {}, objective {}: upper confidence limit {:g} lies {:g} % below the lower "
        "bound {:g}, so points "
        "may have been excluded by mistake",
        violation.point, violation.objective, violation.high, 100.0 * violation.relative, violation.bound);
}

std::string halving_text(const Outcome& outcome)
{
    const bool all = !outcome.complete || outcome.drawn == outcome.feasible;
    return fmt::format(
        "successive halving, without proof: {} feasible plans, {} evaluated, {} on the front{}",
        grouped(outcome.feasible), grouped(outcome.drawn), grouped(outcome.on_front),
        all ? "" : "; plans with worse lower bounds were not evaluated");
}

std::string random_text(const Outcome& outcome)
{
    return fmt::format(
        "random search, without proof: {} plans that the rules of the space allow, {} evaluated, {} on the "
        "front{}",
        grouped(outcome.checked), grouped(outcome.drawn), grouped(outcome.on_front),
        outcome.end == SearchEnd::nothing_new ? "; no further plans were found" : "");
}

std::string end_of_evolution(const Outcome& outcome)
{
    switch (outcome.end) {
        case SearchEnd::none: return "";
        case SearchEnd::most_drawn:
            return fmt::format("; stopped because the limit of {} evaluations was reached",
                               grouped(outcome.drawn));
        case SearchEnd::no_gain:
            return fmt::format("; stopped because the last {} batches brought no improvement",
                               grouped(outcome.idle_batches));
        case SearchEnd::nothing_new: return "; stopped because all children were already known";
    }
    return "";
}

std::string evolution_text(const Outcome& outcome, std::string_view strategy)
{
    return fmt::format(
        "evolutionary search ({}), without proof: {} plans checked, {} of them feasible, {} excluded by "
        "their lower bounds, {} "
        "evaluated, {} on the front{}",
        strategy, grouped(outcome.checked), grouped(outcome.feasible), grouped(outcome.pruned),
        grouped(outcome.drawn), grouped(outcome.on_front), end_of_evolution(outcome));
}

}  // namespace

std::string outcome_text(const Outcome& outcome, std::string_view strategy)
{
    const std::string unfinished = outcome.complete ? "" : "incomplete: ";
    switch (outcome.method) {
        case SearchMethod::exact: break;
        case SearchMethod::halving: return unfinished + halving_text(outcome);
        case SearchMethod::evolution: return unfinished + evolution_text(outcome, strategy);
        case SearchMethod::random: return unfinished + random_text(outcome);
    }
    return exact_text(outcome) + end_text(outcome) +
           (outcome.violation ? violation_text(*outcome.violation) : "");
}

std::string no_plan_text(int space_part, int space_parts)
{
    return fmt::format("proved complete: no feasible plan in part {} of {} of the space", space_part,
                       space_parts);
}

std::string gaps_text(const std::vector<Gap>& gaps, const std::vector<std::string>& objectives)
{
    std::vector<std::string> texts;
    for (std::size_t k = 0; k < gaps.size(); ++k) {
        const double share = gaps[k].relative();
        texts.push_back(objectives[k] + " " + (std::isfinite(share) ? percent_text(share, 2) : "unknown"));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

std::string stopped_text(const Results& results, const std::string& out)
{
    std::vector<std::string> names;
    for (const ObjectiveInfo& objective : results.objectives) {
        names.push_back(objective.name);
    }
    const std::string gaps = gaps_text(results.study.outcome.gaps, names);
    return fmt::format(
        "stopped by {}; {};{} continue with: prismopt resume {}", results.study.stopped_by,
        results.study.outcome_text,
        gaps.empty() ? "" : " no plan is better than the best one found by more than this: " + gaps + ";",
        out);
}

std::string empty_front_text(const Results& results)
{
    const std::string& by = results.study.stopped_by;
    if (by.empty()) {
        return "the front is empty: the study has no feasible plan (prismopt report has the reasons)";
    }
    return fmt::format(
        "the front is empty: {} stopped the search before a plan was evaluated; continue it with prismopt "
        "resume",
        by);
}

std::string stopped_tuning_text(std::string_view stopped_by, std::string_view progress,
                                const std::string& out)
{
    return fmt::format(
        "stopped by {}; {}; the search has not started, so there are no results; continue with: prismopt "
        "resume {}",
        stopped_by, progress, out);
}

std::string merged_text(const Results& merged)
{
    const Outcome& outcome = merged.study.outcome;
    const std::uint64_t covered = covered_combinations(merged);
    const char* unproved = covered == merged.raw_tuples ? "merged" : "incomplete";
    return fmt::format(
        "{}: parts {} of {} with {} of {} combinations of values, {} feasible plans, {} excluded by their "
        "lower bounds, {} open "
        "(confidence {:.6g} %)",
        outcome.proved ? "proved complete" : unproved, fmt::join(merged.study.held, ","),
        merged.study.space_parts, covered, merged.raw_tuples, merged.feasible, outcome.pruned, outcome.open,
        100.0 * outcome.confidence);
}

std::string not_searched_text(std::string_view strategy)
{
    return fmt::format("not searched: strategy {} checks only some plans", strategy);
}

std::string may_not_fit_text(const std::optional<Outcome>& doubtful, bool proved)
{
    if (!doubtful) {
        return "none to search";
    }
    return proved ? fmt::format("proved complete, {} evaluated", grouped(doubtful->evaluated))
                  : fmt::format("not proved complete, {} evaluated, {} open", grouped(doubtful->evaluated),
                                grouped(doubtful->open));
}

std::string merged_may_not_fit_text(const MayNotFit& list)
{
    return fmt::format("{} in each part, {} evaluated",
                       list.proved ? "proved complete" : "not proved complete", list.evaluated);
}

std::string choice_text(const StrategyReason& why)
{
    const std::string tuples = grouped(why.tuples) + " combinations of values";
    const std::string checked = why.of_space_part
                                    ? "parts can be merged if all their combinations are checked"
                                    : tuples + " can all be checked";
    const std::string too_many =
        fmt::format("{} are too many to check all feasible ones; {} objectives: ", tuples, why.objectives);
    switch (why.choice) {
        case ChoiceReason::compares_alternatives:
            return tuples + ", and lower bounds of their best plans compare machines";
        case ChoiceReason::few_objectives: return too_many + "crowding distance";
        case ChoiceReason::many_objectives: return too_many + "niches along reference directions";
        case ChoiceReason::no_bounds:
            return checked +
                   ", but no objective has a lower bound that could exclude plans before they are evaluated";
        case ChoiceReason::all_bounded:
            return checked + ", and lower bounds exclude most plans before they are evaluated";
        case ChoiceReason::some_unbounded: break;
    }
    return checked + "; an objective without a lower bound keeps all feasible plans until they are evaluated";
}

}  // namespace prismopt
