#include "optimizer/improve/single_changes.hpp"

#include "io/trainers/trainer.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan_axes.hpp"
#include "optimizer/improve/axis_changes.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"

#include <algorithm>
#include <string>
#include <variant>

namespace prismopt {

namespace {

/// The value of the axis, and what it forces on others: "schedule=interleaved v=2".
std::string text_of(const ChangedPlan& candidate, const ParallelPlan& from)
{
    const std::string own = axis_text(candidate.axis, candidate.plan);
    std::string text = own;
    for (const std::string& value : changed_values(from, candidate.plan)) {
        text += value == own ? "" : " " + value;
    }
    return text;
}

std::vector<SingleChange> feasible_ones(const ParallelPlan& from, const std::vector<ChangedPlan>& candidates,
                                        const Scenario& scenario, Problem problem, bool in_space)
{
    std::vector<ParallelPlan> plans;
    for (const ChangedPlan& candidate : candidates) {
        plans.push_back(candidate.plan);
    }
    problem.noise = tables_of(scenario, plans);
    problem.orders = nullptr;  // of the plan that is changed, and of no other
    Predictor predictor(problem);
    std::vector<SingleChange> found;
    for (const ChangedPlan& candidate : candidates) {
        const auto bound = predictor.bound(candidate.plan);
        if (const auto* feasible = std::get_if<NoiseFree>(&bound)) {
            found.push_back({.design = text_of(candidate, from),
                             .in_space = in_space,
                             .step_s = feasible->step_s,
                             .training_s = feasible->training_s,
                             .memory_bytes = feasible->memory_bytes,
                             .least_value = least_value(*feasible, scenario.objectives)});
        }
    }
    std::stable_sort(found.begin(), found.end(), [](const SingleChange& a, const SingleChange& b) {
        return a.least_value < b.least_value;
    });
    return found;
}

}  // namespace

std::vector<SingleChange> single_changes(const ParallelPlan& plan, const Scenario& scenario,
                                         const Problem& problem)
{
    std::vector<SingleChange> found =
        feasible_ones(plan, changed_plans(plan, scenario.space, problem), scenario, problem, true);
    return found.empty()
               ? feasible_ones(plan, changed_plans(plan, usual_values(), problem), scenario, problem, false)
               : found;
}

namespace {

/// What the space omits of its axes with one value: what the software offers, or what people try.
SpaceSettings omitted_values(const Scenario& scenario)
{
    SpaceSettings values = usual_values();
    values.recompute.insert(values.recompute.begin(), Recompute::none);
    values.offload.clear();  // it saves memory, no time: only what the software offers
    for_each_axis([&](const auto& axis) {
        auto& list = values.*(axis.values);
        const auto& offered = scenario.levers.*(axis.values);
        if ((scenario.space.*(axis.values)).size() > 1) {
            list.clear();
        } else if (!offered.empty()) {
            list = offered;
        }
    });
    values.gpus.clear();
    values.microbatch.clear();
    return values;
}

bool runs(const ParallelPlan& plan, const Scenario& scenario, const Problem& problem)
{
    return std::all_of(problem.phases.begin(), problem.phases.end(), [&](const Phase& phase) {
        return cannot_run(scenario.search.runnable_by, {plan_in_phase(plan, phase), phase, problem}).empty();
    });
}

}  // namespace

std::vector<HeldLever> held_levers(const ParallelPlan& plan, const Scenario& scenario, const Problem& problem)
{
    constexpr double least_saved = 0.01;
    std::vector<ChangedPlan> candidates = changed_plans(plan, omitted_values(scenario), problem);
    std::erase_if(candidates,
                  [&](const ChangedPlan& candidate) { return !runs(candidate.plan, scenario, problem); });
    const std::vector<SingleChange> own =
        feasible_ones(plan, {{plan, gpus_axis.name}}, scenario, problem, true);
    std::vector<HeldLever> levers;
    for (const SingleChange& change :
         own.empty() ? own : feasible_ones(plan, candidates, scenario, problem, false)) {
        const std::string axis = change.design.substr(0, change.design.find('='));
        const double saved = 1.0 - change.step_s / own.front().step_s;
        auto known = std::find_if(levers.begin(), levers.end(),
                                  [&axis](const HeldLever& lever) { return lever.axis == axis; });
        if (known == levers.end()) {
            known = levers.insert(levers.end(), {axis});
        }
        if (saved >= least_saved && saved > known->saved) {
            known->best = change.design;
            known->saved = saved;
        }
    }
    std::stable_sort(levers.begin(), levers.end(),
                     [](const HeldLever& a, const HeldLever& b) { return a.saved > b.saved; });
    return levers;
}

}  // namespace prismopt
