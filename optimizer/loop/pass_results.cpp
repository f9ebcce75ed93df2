#include "optimizer/loop/pass_results.hpp"

#include "io/report/outcome_text.hpp"
#include "io/results/may_not_fit.hpp"
#include "optimizer/study/machine_table.hpp"
#include "optimizer/study/study_front.hpp"
#include "search/strategies/strategy_choice.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace prismopt {

namespace {

/// A plan with its bound and, if it was drawn, its evaluation.
EvaluatedPoint evaluated_point(const Bound& bound, const StudyModel& model, const Archive& archive)
{
    EvaluatedPoint row{.index = bound.index,
                       .point = model.designs.space().point(bound.index),
                       .rung = 0,
                       .draws = 0,
                       .bounds = bound.objectives,
                       .objectives = {}};
    const auto found = archive.evaluations().find(bound.index);
    if (found != archive.evaluations().end()) {
        row.rung = found->second.rung;
        row.draws = found->second.draws;
        row.objectives = found->second.objectives;
    }
    return row;
}

std::vector<double> upper_limits(const Evaluation& evaluation)
{
    std::vector<double> high;
    for (const Estimate& objective : evaluation.objectives) {
        high.push_back(objective.simultaneous_high);
    }
    return high;
}

}  // namespace

bool serves_several(const StudyModel& model) { return !model.scenario.served.empty(); }

void fill_in(Results& results, const StudyModel& model, const SearchPass& pass, const std::string& strategy,
             bool ended)
{
    const Archive& archive = pass.archive;
    results.axes = model.designs.space().axes();
    results.raw_tuples = model.designs.space().size();
    results.feasible = archive.feasible();
    results.rejected = archive.rejected();
    for (const Objective* objective : model.objectives) {
        results.objectives.push_back({.name = std::string(objective->name),
                                      .units = std::string(objective->units),
                                      .long_name = std::string(objective->long_name)});
    }
    for (const Bound& bound : archive.bounds_and_near()) {
        results.evaluations.push_back(evaluated_point(bound, model, archive));
    }
    Outcome& outcome = results.study.outcome;
    outcome = pass.strategy->outcome();
    results.study.outcome_text = outcome_text(outcome, strategy);
    if (ended && archive.feasible() == 0) {
        outcome.proved = true;
        results.study.outcome_text =
            no_plan_text(model.scenario.search.space_part, model.scenario.search.space_parts);
    }
    if (serves_several(model)) {
        results.machines = machine_table(model, outcome, {});
    }
}

void fill_in_provisional_front(Results& results, const StudyModel& model, const SearchPass& pass)
{
    results.provisional = true;
    FrontDetails details(model);
    for (const std::uint64_t index : pass.archive.provisional_front()) {
        details.add(results.front.emplace_back(pass.drawn.at(index)));
    }
    put_in_order(model, results.front);
}

std::vector<std::vector<double>> limits_of_front(const SearchPass& pass)
{
    std::vector<std::vector<double>> limits;
    for (const std::uint64_t index : pass.strategy->front()) {
        const Evaluation& evaluation = pass.archive.evaluations().at(index);
        if (evaluation.keeping != Keeping::surely) {
            continue;
        }
        std::vector<double> high = upper_limits(evaluation);
        high.push_back(0.0);  // of the memory: plans of the front fit
        if (std::all_of(high.begin(), high.end(), [](double value) { return std::isfinite(value); })) {
            limits.push_back(std::move(high));
        }
    }
    return limits;
}

std::vector<std::uint64_t> unmatched_front(const SearchPass& doubtful, const SearchPass& main)
{
    const std::vector<std::uint64_t> front = main.strategy->front();
    std::vector<std::uint64_t> indices = doubtful.strategy->front();
    std::erase_if(indices, [&](std::uint64_t index) {
        const std::vector<Estimate>& own = doubtful.archive.evaluations().at(index).objectives;
        return std::any_of(front.begin(), front.end(), [&](std::uint64_t other) {
            const Evaluation& of_front = main.archive.evaluations().at(other);
            return keeps(of_front.keeping) && is_nowhere_worse(of_front.objectives, own);
        });
    });
    return indices;
}

void fill_in_may_not_fit(Results& results, const StudyModel& model, const SearchPass* doubtful,
                         const std::string& strategy)
{
    MayNotFit& list = results.may_not_fit;
    list.limit = model.problem.memory_limit.probability;
    sift_may_not_fit(results);
    for (FrontPoint& plan : list.plans) {
        plan.dominated = false;  // by plans that fit with a lower probability
    }
    if (!facts_of_strategy(strategy).covers) {
        list.outcome = not_searched_text(strategy);
        return;
    }
    std::optional<Outcome> outcome;
    if (doubtful != nullptr) {
        outcome = doubtful->strategy->outcome();
        list.evaluated = outcome->evaluated;
    }
    list.proved = (!outcome || outcome->proved) && results.study.outcome.proved;
    list.outcome = may_not_fit_text(outcome, list.proved);
}

}  // namespace prismopt
