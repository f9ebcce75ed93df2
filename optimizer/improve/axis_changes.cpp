#include "optimizer/improve/axis_changes.hpp"

#include "io/scenario/scenario.hpp"
#include "io/trainers/trainer.hpp"
#include "model/objective.hpp"
#include "model/plan_rules.hpp"
#include "model/predictor.hpp"
#include "optimizer/space/design_text.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

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

namespace {

template <class T>
void add_missing(std::vector<T>& values, const std::vector<T>& further)
{
    for (const T& value : further) {
        if (std::find(values.begin(), values.end(), value) == values.end()) {
            values.push_back(value);
        }
    }
}

/// Usual values of plans in detail: also those by which a plan that fits becomes faster.
SpaceSettings detailed_values(const Problem& problem, std::string_view trainer)
{
    SpaceSettings values = usual_values();
    values.recompute.push_back(Recompute::none);
    values.sharding.push_back(Sharding::none);
    values.offload.push_back(Offload::none);
    values.etp = {1, 2, 4, 8};
    values.microbatch = {1, 2, 4, 8};
    values.schedule = {Schedule::one_f_one_b, Schedule::interleaved};
    values.v = {1, 2, 3, 4, 5, 8, 10};
    values.order = {PlacementOrder::tp_dp_pp, PlacementOrder::tp_pp_dp};
    values.dp_overlap = {DataParallelOverlap::on, DataParallelOverlap::off};
    values.shard_gpus = {0, problem.cluster.gpus_per_node()};
    if (trainer.empty()) {
        return values;
    }
    const int layers = problem.workload.layers();
    values.sequence_parallel = {SequenceParallel::on, SequenceParallel::off};
    values.context_exchange = {ContextExchange::ring, ContextExchange::all_gather};
    values.recomputed_layers = {0, layers / 4, layers / 2, layers * 3 / 4};
    values.recompute_modules = {ModuleSet{}};
    add_missing(values.recompute_modules, recomputed_sets(trainer, problem.workload));
    return values;
}

}  // namespace

SpaceSettings values_to_try(const Scenario& scenario, const Problem& problem, std::string_view trainer)
{
    const SpaceSettings usual = detailed_values(problem, trainer);
    SpaceSettings values = scenario.space;
    for_each_axis([&](const auto& axis) {
        const auto& offered = scenario.levers.*(axis.values);
        add_missing(values.*(axis.values), offered.empty() ? usual.*(axis.values) : offered);
    });
    values.gpus.clear();
    return values;
}

std::vector<AxisValue> other_values(const ParallelPlan& plan, const SpaceSettings& values)
{
    std::vector<AxisValue> others;
    for_each_axis([&](const auto& axis) {
        for (const auto& value : values.*(axis.values)) {
            if (plan.*(axis.choice) != value) {
                const auto set = [choice = axis.choice, value](ParallelPlan& changed) {
                    changed.*choice = value;
                };
                others.push_back({axis.name, set, axis.changes.anything});
            }
        }
    });
    return others;
}

std::optional<ParallelPlan> on_gpus(int gpus, ParallelPlan plan)
{
    const int replica = plan.tp * plan.cp * plan.pp;
    if (replica > gpus || gpus % replica != 0) {
        return std::nullopt;
    }
    plan.dp = gpus / replica;
    return plan;
}

namespace {

/// What the values of some axes force on an axis that nobody chose.
struct Forced {
    std::string_view axis;
    std::string_view by;  // only where this axis was chosen; empty: by any
    bool (*applies)(const ParallelPlan&);
    void (*set)(ParallelPlan&);
};

bool chunks_differ(const ParallelPlan& plan) { return !runs_chunks(plan.schedule, plan.chunks); }

/// In this order: the schedule before what depends on it.
constexpr auto forced_values = std::to_array<Forced>({
    {"schedule", "v", chunks_differ,
     [](ParallelPlan& plan) { plan.schedule = plan.chunks > 1 ? usual_schedule_of_chunks : usual_schedule; }},
    {"schedule", "pp",
     [](const ParallelPlan& plan) { return plan.pp == 1 && !facts_of(plan.schedule).one_stage; },
     [](ParallelPlan& plan) { plan.schedule = usual_schedule; }},
    {"v", "", chunks_differ,
     [](ParallelPlan& plan) {
         const int own = facts_of(plan.schedule).chunks;
         plan.chunks = own > 0 ? own : 2;
     }},
    {"group", "", [](const ParallelPlan& plan) { return !facts_of(plan.schedule).groups; },
     [](ParallelPlan& plan) { plan.group = 0; }},
    {"post_validation", "",
     [](const ParallelPlan& plan) {
         return plan.post_validation == PostValidation::on && !can_validate_later(plan);
     },
     [](ParallelPlan& plan) { plan.post_validation = PostValidation::off; }},
    {"ulysses", "", [](const ParallelPlan& plan) { return plan.ulysses > 0 && plan.cp % plan.ulysses != 0; },
     [](ParallelPlan& plan) { plan.ulysses = 1; }},
    {"recompute", "recompute_modules",
     [](const ParallelPlan& plan) {
         return !plan.recompute_modules.empty() && plan.recompute != Recompute::selective;
     },
     [](ParallelPlan& plan) { plan.recompute = Recompute::selective; }},
    {"recompute", "recomputed_layers", [](const ParallelPlan& plan) { return plan.recomputed_layers > 0; },
     [](ParallelPlan& plan) { plan.recompute = Recompute::full; }},
    {"recompute_modules", "", [](const ParallelPlan& plan) { return plan.recompute != Recompute::selective; },
     [](ParallelPlan& plan) { plan.recompute_modules = ModuleSet{}; }},
    {"recomputed_layers", "", [](const ParallelPlan& plan) { return plan.recompute != Recompute::full; },
     [](ParallelPlan& plan) { plan.recomputed_layers = 0; }},
    {"shard_gpus", "",
     [](const ParallelPlan& plan) {
         return plan.shard_gpus > 0 &&
                (plan.sharding == Sharding::none || plan.gradient_gpus() % plan.shard_gpus != 0);
     },
     [](ParallelPlan& plan) { plan.shard_gpus = 0; }},
    {"expert_overlap", "", [](const ParallelPlan& plan) { return !plan.exchanges_tokens(); },
     [](ParallelPlan& plan) { plan.expert_overlap = ExpertOverlap::off; }},
});

/// Whether other values of the plan leave an axis nothing to choose.
bool is_leftover(std::string_view axis, const ParallelPlan& plan)
{
    return std::any_of(forced_values.begin(), forced_values.end(), [&](const Forced& forced) {
        return forced.axis == axis && forced.by.empty() && forced.applies(plan);
    });
}

}  // namespace

std::optional<ParallelPlan> with_values(const ParallelPlan& plan, std::span<const AxisValue* const> values)
{
    ParallelPlan changed = plan;
    for (const AxisValue* value : values) {
        value->set(changed);
    }
    std::optional<ParallelPlan> whole = on_gpus(plan.gpus(), changed);
    if (!whole) {
        return std::nullopt;
    }
    const auto chosen = [&](std::string_view axis) {
        return std::any_of(values.begin(), values.end(),
                           [axis](const AxisValue* value) { return value->axis == axis; });
    };
    for (const Forced& forced : forced_values) {
        if ((forced.by.empty() || chosen(forced.by)) && !chosen(forced.axis) && forced.applies(*whole)) {
            forced.set(*whole);
        }
    }
    const bool all_matter = std::all_of(values.begin(), values.end(), [&](const AxisValue* value) {
        return value->matters == nullptr || value->matters(*whole);
    });
    return all_matter ? whole : std::nullopt;
}

std::vector<ChangedPlan> changed_plans(const ParallelPlan& plan, const SpaceSettings& values,
                                       const Problem& problem)
{
    std::vector<ChangedPlan> changes;
    const auto add = [&](std::string_view axis, const std::optional<ParallelPlan>& changed) {
        if (changed && !(*changed == plan) && !structural_problem(*changed, problem)) {
            changes.push_back({*changed, axis});
        }
    };
    for (const AxisValue& value : other_values(plan, values)) {
        add(value.axis, with_values(plan, std::array{&value}));
    }
    for (const int gpus : values.gpus) {
        add(gpus_axis.name, on_gpus(gpus, plan));
    }
    return changes;
}

std::vector<std::string> changed_values(const ParallelPlan& from, const ParallelPlan& to)
{
    std::vector<std::string> texts;
    if (from.gpus() != to.gpus()) {
        texts.push_back(axis_text(gpus_axis.name, to));
    }
    for_each_axis([&](const auto& axis) {
        const bool matters = axis.changes.anything == nullptr || axis.changes.anything(to);
        if (from.*(axis.choice) != to.*(axis.choice) && matters && !is_leftover(axis.name, to)) {
            texts.push_back(axis_text(axis.name, to));
        }
    });
    return texts;
}

bool lists_changes(const SpaceSettings& space, const ParallelPlan& from, const ParallelPlan& to)
{
    bool all = true;
    for_each_axis([&](const auto& axis) {
        const auto& listed = space.*(axis.values);
        const auto& value = to.*(axis.choice);
        all = all && (from.*(axis.choice) == value ||
                      std::find(listed.begin(), listed.end(), value) != listed.end());
    });
    return all;
}

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

}  // namespace prismopt
