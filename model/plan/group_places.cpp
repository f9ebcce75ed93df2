#include "model/plan/group_places.hpp"

#include "model/hardware/collective.hpp"
#include "model/plan/job_dimensions.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace prismopt {

namespace {

/// Places of the groups of one kind. Distinct ones have numbers.
class KindPlaces {
public:
    KindPlaces(GroupKind kind, const ParallelPlan& plan, const Placement& placement, const Cluster& cluster)
        : kind_(kind), plan_(plan), placement_(placement), cluster_(cluster), shape_(group_shape(kind, plan)),
          dimensions_(job_dimensions(shape_, plan, placement))
    {
        if (shape_.size * shape_.copies == 1) {
            is_equal_ = true;
        } else if (dimensions_ && fit_units(*dimensions_, plan, placement, cluster)) {
            is_equal_ = true;
            groups_.push_back(group_of(members_in(*dimensions_), 0, cluster));
        } else {
            period_ = period_of_units();
        }
    }

    /// Whether all groups have equivalent places; they then have the number 0, if they have several members.
    bool is_equal() const { return is_equal_; }
    Groups groups(const std::vector<int>& numbers) const
    {
        Groups result;
        for (const int number : numbers) {
            result.push_back(groups_[number]);
        }
        return result;
    }
    /// All groups that were numbered.
    const Groups& groups() const { return groups_; }

    /// Calls visit(set of coupled replicas, number) for all groups of a stage.
    template <class Visit>
    void for_groups(int stage, Visit&& visit)
    {
        const int set_numbers = plan_.tp * plan_.cp * placement_.coupled;
        for (int index = 0; index < number_of_groups(shape_, plan_); ++index) {
            const int first = first_of(index, shape_);
            visit(first / set_numbers, number_at(index, first, stage));
        }
    }

    /// The distinct groups of a stage.
    Groups of_stage(int stage)
    {
        if (is_equal_) {
            return groups_;
        }
        if (has_equal_neighbours()) {
            return groups({number_at(0, 0, stage)});
        }
        std::set<int> numbers;
        for_groups(stage, [&numbers](int /*set*/, int number) { numbers.insert(number); });
        return groups({numbers.begin(), numbers.end()});
    }

private:
    /// Whether the groups of a stage are moved against each other inside units only.
    bool has_equal_neighbours() const
    {
        const int step = shape_.step;
        return number_of_groups(shape_, plan_) == step && plan_.tp * plan_.cp % step == 0 &&
               std::all_of(cluster_.tiers.begin(), cluster_.tiers.end(),
                           [&](const NetworkTier& tier) { return gpus_joined(tier, cluster_) % step == 0; });
    }

    int number_of(const Group& group)
    {
        const auto [found, is_new] = numbers_.emplace(group, static_cast<int>(groups_.size()));
        if (is_new) {
            groups_.push_back(group);
        }
        return found->second;
    }

    /// Groups whose first members lie at the same place of a unit of every tier have equivalent places.
    int number_at(int index, int first, int stage)
    {
        if (!dimensions_) {
            return number_of(group_of_members(members_of(kind_, index, stage, plan_, placement_), cluster_));
        }
        const int gpu = gpu_of(first, stage, plan_, placement_);
        const int place = gpu % period_;
        auto found = at_places_.find(place);
        if (found == at_places_.end()) {
            found =
                at_places_.emplace(place, number_of(group_of(members_in(*dimensions_), gpu, cluster_))).first;
        }
        return found->second;
    }

    /// GPUs after which the units of all tiers begin again together, or all that the job has.
    int period_of_units() const
    {
        const int used = used_gpus(plan_, placement_);
        std::int64_t common = 1;
        for (const NetworkTier& tier : cluster_.tiers) {
            const int unit = gpus_joined(tier, cluster_);
            if (unit < used) {
                common = std::lcm(common, std::int64_t{unit});
            }
            if (common >= used) {
                return used;
            }
        }
        return static_cast<int>(common);
    }

    GroupKind kind_;
    const ParallelPlan& plan_;
    const Placement& placement_;
    const Cluster& cluster_;
    GroupShape shape_;
    std::optional<JobDimensions> dimensions_;
    bool is_equal_ = false;
    std::vector<Group> groups_;     // by number
    std::map<Group, int> numbers_;  // of groups
    std::map<int, int> at_places_;  // number by the first member's place
    int period_ = 1;                // of the units of all tiers
};

/// Whether a message from a stage to the next crosses the same tiers in all replicas.
bool has_equal_links(const ParallelPlan& plan, const Placement& placement, const Cluster& cluster)
{
    if (plan.pp == 1 || plan.dp == 1) {
        return true;
    }
    const auto dimensions = job_dimensions(GroupShape{}, plan, placement);
    return dimensions && fit_units(*dimensions, plan, placement, cluster);
}

/// All GPUs of a stage send to those of the next one, in the replicas from `first` to `last`.
ReplicaKind::Link widest_link(int first, int last, int stage, const Placement& placement,
                              const Cluster& cluster)
{
    const int next = (stage + 1) % placement.stages;
    ReplicaKind::Link widest;
    std::size_t outermost = 0;
    for (int replica = first; replica <= last; ++replica) {
        const int from = placement.gpu(replica, stage);
        const int to = placement.gpu(replica, next);
        const int member = widest_message(from, to, placement.tp, cluster);
        const std::size_t tier = tier_between(from + member, to + member, cluster);
        if (tier > outermost || replica == first) {
            outermost = tier;
            widest = {from + member, to + member};
        }
    }
    return widest;
}

std::vector<ReplicaKind::Link> widest_links(int first, int last, const Placement& placement,
                                            const Cluster& cluster)
{
    std::vector<ReplicaKind::Link> links;
    for (int stage = 0; stage < placement.stages; ++stage) {
        links.push_back(widest_link(first, last, stage, placement, cluster));
    }
    return links;
}

std::vector<KindPlaces> kinds_inside_layers(const ParallelPlan& plan, const Placement& placement,
                                            const Cluster& cluster)
{
    std::vector<KindPlaces> kinds;
    for (std::size_t kind = 0; kind < LayerGroups::kinds; ++kind) {
        kinds.emplace_back(static_cast<GroupKind>(kind), plan, placement, cluster);
    }
    return kinds;
}

/// Lists of numbers of groups, which have numbers themselves.
class NumberLists {
public:
    int number_of(const std::vector<int>& list)
    {
        const auto [found, is_new] = numbers_.emplace(list, static_cast<int>(lists_.size()));
        if (is_new) {
            lists_.push_back(list);
        }
        return found->second;
    }
    const std::vector<int>& list(int number) const { return lists_[number]; }

private:
    std::map<std::vector<int>, int> numbers_;
    std::vector<std::vector<int>> lists_;
};

/// Groups of one stage of a set of coupled replicas: numbers of lists, by kind.
using Numbers = std::array<int, LayerGroups::kinds>;
using ListsOfKinds = std::array<NumberLists, LayerGroups::kinds>;

/// [set of coupled replicas]
std::vector<Numbers> groups_of_sets(int stage, int sets, std::vector<KindPlaces>& kinds, ListsOfKinds& lists)
{
    std::vector<Numbers> of_sets(sets);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        if (kinds[kind].is_equal()) {
            continue;  // one list, of all groups
        }
        std::vector<std::vector<int>> members(sets);
        kinds[kind].for_groups(stage, [&members](int set, int number) {
            std::vector<int>& own = members[set];
            const auto place = std::lower_bound(own.begin(), own.end(), number);
            if (place == own.end() || *place != number) {
                own.insert(place, number);
            }
        });
        for (int set = 0; set < sets; ++set) {
            of_sets[set][kind] = lists[kind].number_of(members[set]);
        }
    }
    return of_sets;
}

LayerGroups layer_groups(const Numbers& numbers, const std::vector<KindPlaces>& kinds,
                         const ListsOfKinds& lists)
{
    LayerGroups groups;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        const KindPlaces& places = kinds[kind];
        groups.of(static_cast<GroupKind>(kind)) =
            places.is_equal() ? places.groups() : places.groups(lists[kind].list(numbers[kind]));
    }
    return groups;
}

/// What distinguishes kinds of replicas.
struct Signature {
    std::vector<int> layers;         // [stage]
    std::vector<std::size_t> tiers;  // [stage]: that a message to the next stage crosses

    auto operator<=>(const Signature&) const = default;
};

void place_replicas(const ParallelPlan& plan, const Placement& placement, const Cluster& cluster,
                    GroupPlaces& places)
{
    std::vector<KindPlaces> kinds = kinds_inside_layers(plan, placement, cluster);
    const bool all_equal =
        has_equal_links(plan, placement, cluster) &&
        std::all_of(kinds.begin(), kinds.end(), [](const KindPlaces& kind) { return kind.is_equal(); });
    const int all_sets = placement.replicas / placement.coupled;
    if (all_equal) {
        places.layers.push_back(layer_groups({}, kinds, {}));
        places.replicas = {
            {all_sets, std::vector<int>(placement.stages, 0), widest_links(0, 0, placement, cluster)}};
        return;
    }
    ListsOfKinds lists;
    std::map<Numbers, int> known;
    std::vector<Signature> signatures(all_sets);
    for (int stage = 0; stage < placement.stages; ++stage) {
        const std::vector<Numbers> of_sets = groups_of_sets(stage, all_sets, kinds, lists);
        for (int set = 0; set < all_sets; ++set) {
            const auto [found, is_new] = known.emplace(of_sets[set], static_cast<int>(places.layers.size()));
            if (is_new) {
                places.layers.push_back(layer_groups(of_sets[set], kinds, lists));
            }
            signatures[set].layers.push_back(found->second);
        }
    }
    std::map<Signature, std::size_t> kinds_of_replicas;
    for (int set = 0; set < all_sets; ++set) {
        const int first = set * placement.coupled;
        ReplicaKind replica{.sets = 1,
                            .layers = signatures[set].layers,
                            .links = widest_links(first, first + placement.coupled - 1, placement, cluster)};
        for (const ReplicaKind::Link& link : replica.links) {
            signatures[set].tiers.push_back(tier_between(link.from, link.to, cluster));
        }
        const auto [found, is_new] = kinds_of_replicas.emplace(signatures[set], places.replicas.size());
        places.kind_of_set.push_back(static_cast<int>(found->second));
        if (is_new) {
            places.replicas.push_back(std::move(replica));
        } else {
            ++places.replicas[found->second].sets;
        }
    }
}

void place_exchanges(const ParallelPlan& plan, const Placement& placement, const Cluster& cluster,
                     GroupPlaces& places)
{
    KindPlaces data(GroupKind::data, plan, placement, cluster);
    KindPlaces expert_data(GroupKind::expert_data, plan, placement, cluster);
    // The ends of a step shard over the same GPUs, whatever the level of sharding.
    ParallelPlan sharding = plan;
    sharding.sharding = Sharding::zero3;
    KindPlaces sharded(GroupKind::sharded, sharding, placement, cluster);
    KindPlaces between(GroupKind::between_shards, sharding, placement, cluster);
    const bool all_equal =
        data.is_equal() && expert_data.is_equal() && sharded.is_equal() && between.is_equal();
    for (int stage = 0; stage < (all_equal ? 1 : placement.stages); ++stage) {
        places.exchanges.push_back({data.of_stage(stage), sharded.of_stage(stage), between.of_stage(stage),
                                    expert_data.of_stage(stage)});
    }
}

}  // namespace

GroupKey group_key(const ParallelPlan& plan)
{
    return {{plan.tp, plan.cp, plan.pp, plan.dp, plan.ep, plan.etp, plan.head_gpus(), plan.table_gpus(),
             plan.sharding_gpus(), plan.model_copies(), static_cast<int>(shards_gradients(plan.sharding)),
             static_cast<int>(plan.dp_overlap), static_cast<int>(plan.order),
             static_cast<int>(plan.crossing)}};
}

GroupPlaces place_groups(const ParallelPlan& plan, const Placement& placement, const Cluster& cluster)
{
    GroupPlaces places;
    place_replicas(plan, placement, cluster, places);
    place_exchanges(plan, placement, cluster, places);
    return places;
}

}  // namespace prismopt
