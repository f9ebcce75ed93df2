#include "model/step/compile/placed_plan.hpp"

#include "model/base/random.hpp"
#include "model/plan/node_order.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace prismopt {

namespace {

/// Places held at once: the search of a large space asks for more than are useful to keep.
constexpr std::size_t most_places = 1 << 12;

}  // namespace

std::shared_ptr<const NumberedPlaces> KnownPlaces::numbered(GroupPlaces places)
{
    NumberedPlaces result{std::move(places), {}, {}};
    for (const LayerGroups& groups : result.groups.layers) {
        result.numbers.push_back(numbers_.emplace(groups, static_cast<int>(numbers_.size())).first->second);
    }
    for (const ReplicaKind& replica : result.groups.replicas) {
        std::vector<int> stages;
        for (const int groups : replica.layers) {
            stages.push_back(result.numbers[groups]);
        }
        if (std::all_of(stages.begin(), stages.end(), [&](int number) { return number == stages.front(); })) {
            stages.resize(1);  // however many stages there are
        }
        result.of_stages.push_back(
            of_stages_.emplace(stages, static_cast<int>(of_stages_.size())).first->second);
    }
    return std::make_shared<const NumberedPlaces>(std::move(result));
}

std::shared_ptr<const NumberedPlaces> KnownPlaces::of(const ParallelPlan& plan, const Placement& placement)
{
    const GroupKey key = group_key(plan);
    auto found = places_.find(key);
    if (found == places_.end()) {
        if (places_.size() == most_places) {
            places_.clear();
        }
        found = places_.emplace(key, numbered(place_groups(plan, placement, cluster_))).first;
    }
    return found->second;
}

std::variant<PlacedPlan, Infeasible> place_in_phase(const ParallelPlan& plan, const Phase& phase,
                                                    const Cluster& cluster)
{
    if (plan.dp >= static_cast<int>(shared_by_replicas)) {  // random keys number replicas in 16 bits
        return Infeasible{Conflict::replicas_to_simulate, {{FactKey::dp, plan.dp}}};
    }
    if (!expert_groups_divide(plan)) {
        return Infeasible{Conflict::expert_groups_and_stage,
                          {{FactKey::expert_gpus, plan.ep * plan.etp},
                           {FactKey::stage_gpus, plan.tp * plan.cp * plan.dp}}};
    }
    if (auto refusal = placement_problem(plan, cluster)) {
        return *refusal;
    }
    if (auto refusal = local_updates_problem(plan, cluster)) {
        return *refusal;
    }
    if (auto refusal = node_problem(plan, cluster)) {
        return *refusal;
    }
    return PlacedPlan{plan, schedule_shape(plan, phase.global_batch), place(plan, cluster),
                      barrier_widths(plan)};
}

}  // namespace prismopt
