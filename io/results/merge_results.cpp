#include "io/results/merge_results.hpp"

#include "io/base/input_error.hpp"
#include "io/results/may_not_fit.hpp"
#include "io/results/stored_scenario.hpp"
#include "model/objective.hpp"
#include "search/archive.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace prismopt {

namespace {

std::vector<double> values_of(const std::vector<Estimate>& objectives)
{
    std::vector<double> values;
    for (const Estimate& objective : objectives) {
        values.push_back(objective.value);
    }
    return values;
}

void refuse_another_study(const Results& a, const Results& b)
{
    const auto refuse = [&](const std::string& what) {
        throw InputError(
            fmt::format("part {} ({}) belongs to another study than the first ({}): its {} differs; merge "
                        "parts of one search only",
                        b.study.scenario_name, b.study.command_line, a.study.command_line, what));
    };
    if (a.study.scenario_text != b.study.scenario_text || a.study.default_order != b.study.default_order) {
        refuse("scenario");
    }
    if (a.study.seed != b.study.seed) {
        refuse("seed");
    }
    if (a.study.build != b.study.build) {
        refuse(fmt::format("program ({} and {})", build_text(b.study.build), build_text(a.study.build)));
    }
    if (a.study.space_parts != b.study.space_parts) {
        refuse(fmt::format("number of parts ({} and {})", b.study.space_parts, a.study.space_parts));
    }
    if (a.raw_tuples != b.raw_tuples || a.study.strategy != b.study.strategy) {
        refuse("space or strategy");
    }
}

/// Throws InputError where a part is there twice; also where one is missing or was
/// stopped, unless that is wanted.
void check_all_given(const std::vector<Results>& one_each, const StudyInfo& merged, Missing missing)
{
    for (std::size_t i = 1; i < merged.held.size(); ++i) {
        if (merged.held[i] == merged.held[i - 1]) {
            throw InputError(fmt::format(
                "two of the files contain part {} of {}: parts must not overlap; give each part once",
                merged.held[i], merged.space_parts));
        }
    }
    std::vector<std::string> lacking;
    for (int space_part = 1; space_part <= merged.space_parts; ++space_part) {
        if (!std::binary_search(merged.held.begin(), merged.held.end(), space_part)) {
            lacking.push_back(fmt::format("part {} is missing: prismopt search ... --part {}/{}", space_part,
                                          space_part, merged.space_parts));
        }
    }
    for (const Results& own : one_each) {
        if (own.provisional) {
            lacking.push_back(
                fmt::format("part {} was stopped before its end ({}): run prismopt resume on its file",
                            fmt::join(own.study.held, ","), own.study.command_line));
        }
    }
    if (!lacking.empty() && missing == Missing::refused) {
        throw InputError(fmt::format(
            "these are not all {} parts of the search:\n  {}\nor merge the parts that exist with --partial",
            merged.space_parts, fmt::join(lacking, "\n  ")));
    }
}

/// What the question of a study allows; nothing without one, or where this program cannot read the scenario.
QuestionLimits question_limits(const StudyInfo& study)
{
    try {
        const Scenario scenario = scenario_of(study);
        return scenario.question ? limits_of(*scenario.question, scenario.start) : QuestionLimits{};
    } catch (const InputError&) {
        return {};
    }
}

bool keeps(const FrontPoint& point, const QuestionLimits& limits)
{
    return std::all_of(limits.begin(), limits.end(), [&](const auto& limit) {
        return find_objective(limit.first)->value(point.prediction).value <= limit.second;
    });
}

/// Members whose first estimates no other member's dominate, flagged where the confirmed ones say otherwise.
/// What does not keep the limits of the question dominates nothing that does.
void sift_front(Results& merged)
{
    const QuestionLimits limits = question_limits(merged.study);
    const auto may_dominate = [&](const FrontPoint& other, const FrontPoint& point) {
        return keeps(other, limits) || !keeps(point, limits);
    };
    std::map<std::uint64_t, std::vector<double>> first;
    for (const EvaluatedPoint& point : merged.evaluations) {
        first[point.index] = values_of(point.objectives);
    }
    for (const FrontPoint& point : merged.front) {
        if (std::vector<double>& values = first[point.index]; values.empty()) {
            values = values_of(point.objectives);  // a plan that is shown beside the front
        }
    }
    std::vector<FrontPoint> members = std::move(merged.front);
    merged.front.clear();
    for (const FrontPoint& point : members) {
        if (std::none_of(members.begin(), members.end(), [&](const FrontPoint& other) {
                return may_dominate(other, point) && dominates(first[other.index], first[point.index]);
            })) {
            merged.front.push_back(point);
        }
    }
    for (FrontPoint& point : merged.front) {
        const std::vector<double> value = values_of(point.objectives);
        point.dominated = std::any_of(merged.front.begin(), merged.front.end(), [&](const FrontPoint& other) {
            return may_dominate(other, point) && dominates(values_of(other.objectives), value);
        });
    }
    std::stable_sort(merged.front.begin(), merged.front.end(), [](const FrontPoint& a, const FrontPoint& b) {
        return a.objectives.front().value < b.objectives.front().value;
    });
}

void add_counts(const Outcome& own, Outcome& all)
{
    all.proved = all.proved && own.proved;
    all.complete = all.complete && own.complete;
    all.pruned += own.pruned;
    all.evaluated += own.evaluated;
    all.open += own.open;
    all.unchecked += own.unchecked;
    for (std::size_t bound = 0; bound < bound_kinds; ++bound) {
        all.excluded_by[bound] += own.excluded_by[bound];
    }
}

template <class T>
void append(const std::vector<T>& own, std::vector<T>& all)
{
    all.insert(all.end(), own.begin(), own.end());
}

/// Adds what one file has: plans, counts, ranks and legs.
void add_results(const Results& own, Results& merged)
{
    append(own.study.held, merged.study.held);
    merged.provisional = merged.provisional || own.provisional;
    append(own.evaluations, merged.evaluations);
    append(own.front, merged.front);
    MayNotFit& list = merged.may_not_fit;
    append(own.may_not_fit.plans, list.plans);
    list.proved = list.proved && own.may_not_fit.proved;
    list.evaluated += own.may_not_fit.evaluated;
    append(own.ranks, merged.ranks);
    append(own.legs, merged.legs);
    merged.feasible += own.feasible;
    add(own.rejected, merged.rejected);
    add_counts(own.study.outcome, merged.study.outcome);
}

/// Sorts evaluations by index. Throws InputError if two files have one.
void sort_evaluations(std::vector<EvaluatedPoint>& evaluations)
{
    std::stable_sort(evaluations.begin(), evaluations.end(),
                     [](const EvaluatedPoint& a, const EvaluatedPoint& b) { return a.index < b.index; });
    const auto twice = std::adjacent_find(evaluations.begin(), evaluations.end(),
                                          [](const EvaluatedPoint& a, const EvaluatedPoint& b) {
                                              return a.index == b.index;
                                          });
    if (twice != evaluations.end()) {
        throw InputError(fmt::format(
            "two of the files contain plan {}: parts must not overlap; give each part once", twice->index));
    }
}

}  // namespace

Results merge_results(const std::vector<Results>& one_each, Missing missing)
{
    Results merged = one_each.front();
    Outcome& outcome = merged.study.outcome;
    double doubt = 1.0 - outcome.confidence;
    for (std::size_t p = 1; p < one_each.size(); ++p) {
        const Results& own = one_each[p];
        refuse_another_study(merged, own);
        add_results(own, merged);
        doubt += 1.0 - own.study.outcome.confidence;
    }
    std::sort(merged.study.held.begin(), merged.study.held.end());
    check_all_given(one_each, merged.study, missing);
    sort_evaluations(merged.evaluations);
    for (std::size_t rank = 0; rank < merged.ranks.size(); ++rank) {
        merged.ranks[rank].rank = static_cast<int>(rank);
    }
    merged.progress.clear();  // of several searches side by side there is no one order
    sift_front(merged);
    sift_may_not_fit(merged);
    std::stable_sort(merged.may_not_fit.plans.begin(), merged.may_not_fit.plans.end(),
                     [](const FrontPoint& a, const FrontPoint& b) {
                         return a.objectives.front().value < b.objectives.front().value;
                     });

    const bool whole = covered_combinations(merged) == merged.raw_tuples;
    outcome.proved = outcome.proved && whole;
    outcome.complete = outcome.complete && whole;
    outcome.confidence = 1.0 - doubt;
    outcome.gaps.clear();  // of one part
    merged.study.stopped_by.clear();
    merged.study.outcome_text.clear();
    merged.may_not_fit.proved = merged.may_not_fit.proved && outcome.proved;
    merged.may_not_fit.outcome.clear();
    return merged;
}

std::uint64_t covered_combinations(const Results& results)
{
    std::uint64_t covered = results.feasible + results.study.outcome.unchecked;
    for (const Rejected& rejected : results.rejected) {
        covered += rejected.count;
    }
    return covered;
}

}  // namespace prismopt
