#include "optimizer/study/study_plan.hpp"

#include "io/report/space_counts.hpp"
#include "io/report/study_notes.hpp"
#include "optimizer/commands/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

StudyGoal goal_of(const StudyModel& model, std::size_t rungs)
{
    StudyGoal goal;
    goal.objectives = model.objectives.size();
    goal.top_rung = static_cast<int>(rungs);
    goal.confidence = model.confidence();
    goal.part = static_cast<std::uint64_t>(model.scenario.search.part);
    goal.parts = static_cast<std::uint64_t>(model.scenario.search.parts);
    goal.bounded = model.bounded;
    goal.seed = model.scenario.seed;
    goal.max_evaluations = model.scenario.search.max_evaluations;
    return goal;
}

}  // namespace

/// The exact search uses the few rungs of the scenario, because each simultaneous limit costs confidence. Successive halving uses
/// the first and last rung of the scenario and doublings between them.
StudyPlan plan_study(const StudyModel& model)
{
    const SearchSettings& search = model.scenario.search;
    const Space& space = model.designs.space();
    std::vector<Rung> rungs = search.rungs;
    ChosenStrategy chosen = make_strategy(search.strategy, space, goal_of(model, rungs.size()));
    if (chosen.name != "exact") {
        rungs = {search.rungs.front()};
        while (2 * rungs.back().fleets < search.rungs.back().fleets) {
            rungs.push_back({2 * rungs.back().fleets, rungs.back().steps});
        }
        rungs.push_back(search.rungs.back());
        if (search.rungs.size() == 1) {
            rungs.pop_back();
        }
        chosen.strategy = make_strategy(chosen.name, space, goal_of(model, rungs.size())).strategy;
    }
    for (const std::string& note : {model.scenario.older_keys, idle_nodes_text(model.scenario)}) {
        if (!note.empty()) {
            log_warning(note);
        }
    }
    for (std::size_t k = 0; k < model.objectives.size(); ++k) {
        if (model.objectives[k]->bound == nullptr) {
            log_warning(fmt::format("{} has no lower bound, so no plan can be excluded before it is evaluated",
                                    model.objectives[k]->name));
        } else if (!model.bounded[k]) {
            log_warning(fmt::format(
                "{} is searched without lower bounds: a rare slow mode raises the mean of a distribution above that quantile",
                model.objectives[k]->name));
        }
    }
    return {std::move(chosen), std::move(rungs)};
}

std::string infeasible_text(const Scenario& scenario, const Archive& archive)
{
    const SpaceCounts counts = space_counts(0, archive.rejected());
    if (counts.looked_at == 0) {  // a strategy that checks few plans
        return fmt::format(
            "{}: no feasible plan was found; --strategy exact checks all plans and counts the reasons why they are infeasible",
            scenario.path);
    }
    std::string text = fmt::format("{}: none of the {} plans of [space] is feasible:", scenario.path, counts.plans);
    bool memory = false;
    for (const Rejected& rejected : archive.rejected()) {
        if (rejected.count == 0 || (names_no_plan(rejected.reason) && counts.plans > 0)) {
            continue;
        }
        text += fmt::format("\n  {}: {}", rejected.reason, rejected.count);
        if (counts.plans > 0) {
            text += fmt::format(" ({})", share_of(rejected.count, counts.plans));
        }
        if (!rejected.nearest.empty()) {
            const bool bytes = rejected.miss > 0.0 &&
                               rejected.reason.starts_with(name(Reason::out_of_memory));  // other reasons have other units
            memory = memory || bytes;
            const std::string by = bytes ? fmt::format(" misses by {:.2f} GB", rejected.miss / 1e9) : "";
            text += fmt::format("; the closest plan{}: {}", by, rejected.nearest);
        }
    }
    if (counts.plans < counts.looked_at) {
        text += fmt::format("\n{} of {} combinations of values repeat another plan or define no schedule",
                            counts.looked_at - counts.plans, counts.looked_at);
    }
    return text + (memory
                       ? "\ntry larger tp or pp, recompute, a smaller microbatch, more GPUs, or an accelerator with more memory"
                       : "\ntry more choices in [space] that meet these rules");
}

void refuse_infeasible(const Scenario& scenario, const Archive& archive) { throw InputError(infeasible_text(scenario, archive)); }

std::string added_fleets_text(int fleets)
{
    return fmt::format("{} fleets are drawn of the incumbents: their upper confidence limits need more than the last rung",
                       fleets);
}

}  // namespace prismopt
