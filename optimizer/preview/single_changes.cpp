#include "optimizer/preview/single_changes.hpp"

#include "io/trainers/trainer.hpp"
#include "model/objective.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan_axes.hpp"
#include "model/plan_rules.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <variant>

namespace prismopt {

namespace {

/// Values that people try, whatever the space lists.
SpaceSettings usual_values()
{
    SpaceSettings space;
    space.tp = {1, 2, 4, 8};
    space.cp = {1, 2, 4, 8};
    space.ulysses = {1, 2, 4, 8, 0};
    space.pp = {1, 2, 4, 8, 16, 32};
    space.ep = {1, 2, 4, 8, 16, 32, 64};
    space.microbatch = {1, 2, 4};
    space.recompute = {Recompute::selective, Recompute::full};
    space.sharding = {Sharding::zero1, Sharding::zero2, Sharding::zero3};
    space.offload = {Offload::optimizer, Offload::activations};
    return space;
}

/// With as many replicas as the GPUs then have; nothing where these are not whole.
std::optional<ParallelPlan> on(int gpus, ParallelPlan plan)
{
    const int replica = plan.tp * plan.cp * plan.pp;
    if (replica > gpus || gpus % replica != 0) {
        return std::nullopt;
    }
    plan.dp = gpus / replica;
    return plan;
}

/// What such a plan costs at least in what the study minimises first; the mean training time where that has no bound, or none that
/// depends on time: fewer GPUs or less memory are no advice to a plan that does not fit.
double least_value(const NoiseFree& bound, const std::vector<std::string>& objectives)
{
    for (const std::string& name : objectives) {
        const Objective* objective = find_objective(name);
        if (objective != nullptr && objective->scales != ScalesWith::nothing && objective->bound != nullptr) {
            return objective->bound(bound);
        }
    }
    return bound.training_s;
}

struct Candidate {
    ParallelPlan plan;
    std::string_view axis;
};

/// Plans without a structural problem that differ from `plan` in the value of one axis.
std::vector<Candidate> with_values(const ParallelPlan& plan, const SpaceSettings& values, const Problem& problem)
{
    std::vector<Candidate> candidates;
    const auto add = [&](std::string_view axis, const std::optional<ParallelPlan>& changed) {
        if (changed && !(*changed == plan) && !structural_problem(*changed, problem)) {
            candidates.push_back({*changed, axis});
        }
    };
    for_each_axis([&](const auto& axis) {
        for (const auto& value : values.*(axis.values)) {
            ParallelPlan changed = plan;
            changed.*(axis.choice) = value;
            if (axis.changes.anything == nullptr || axis.changes.anything(changed)) {
                add(axis.name, on(plan.gpus(), changed));
            }
        }
    });
    for (const int gpus : values.gpus) {
        add(gpus_axis.name, on(gpus, plan));
    }
    return candidates;
}

std::vector<SingleChange> feasible_ones(const std::vector<Candidate>& candidates, const Scenario& scenario, Problem problem,
                                        bool in_space)
{
    std::vector<ParallelPlan> plans;
    for (const Candidate& candidate : candidates) {
        plans.push_back(candidate.plan);
    }
    problem.noise = tables_of(scenario, plans);
    problem.orders = nullptr;  // of the plan that is changed, and of no other
    Predictor predictor(problem);
    std::vector<SingleChange> found;
    for (const Candidate& candidate : candidates) {
        const auto bound = predictor.bound(candidate.plan);
        if (const auto* feasible = std::get_if<NoiseFree>(&bound)) {
            found.push_back({.design = axis_text(candidate.axis, candidate.plan),
                             .in_space = in_space,
                             .step_s = feasible->step_s,
                             .training_s = feasible->training_s,
                             .memory_bytes = feasible->memory_bytes,
                             .least_value = least_value(*feasible, scenario.objectives)});
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const SingleChange& a, const SingleChange& b) { return a.least_value < b.least_value; });
    return found;
}

}  // namespace

std::vector<SingleChange> single_changes(const ParallelPlan& plan, const Scenario& scenario, const Problem& problem)
{
    std::vector<SingleChange> found = feasible_ones(with_values(plan, scenario.space, problem), scenario, problem, true);
    return found.empty() ? feasible_ones(with_values(plan, usual_values(), problem), scenario, problem, false) : found;
}

namespace {

/// What the space leaves out of its axes with one value: what the software offers, or what people try.
SpaceSettings values_left_out(const Scenario& scenario)
{
    SpaceSettings values = usual_values();
    values.recompute.insert(values.recompute.begin(), Recompute::none);
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
    values.offload = scenario.levers.offload;  // of other software it saves memory, no time
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
    std::vector<Candidate> candidates = with_values(plan, values_left_out(scenario), problem);
    std::erase_if(candidates, [&](const Candidate& candidate) { return !runs(candidate.plan, scenario, problem); });
    const std::vector<SingleChange> own = feasible_ones({{plan, gpus_axis.name}}, scenario, problem, true);
    std::vector<HeldLever> levers;
    for (const SingleChange& change : own.empty() ? own : feasible_ones(candidates, scenario, problem, false)) {
        const std::string axis = change.design.substr(0, change.design.find('='));
        const double saved = 1.0 - change.step_s / own.front().step_s;
        auto known = std::find_if(levers.begin(), levers.end(), [&axis](const HeldLever& lever) { return lever.axis == axis; });
        if (known == levers.end()) {
            known = levers.insert(levers.end(), {axis});
        }
        if (saved >= least_saved && saved > known->saved) {
            known->best = change.design;
            known->saved = saved;
        }
    }
    std::stable_sort(levers.begin(), levers.end(), [](const HeldLever& a, const HeldLever& b) { return a.saved > b.saved; });
    return levers;
}

}  // namespace prismopt
