#include "model/plan/process_groups.hpp"

#include "model/hardware/collective.hpp"
#include "model/plan/coupling.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace prismopt {

namespace {

/// GPUs of one replica in a stage.
int width_of(const ParallelPlan& plan) { return plan.tp * plan.cp; }
int stage_gpus(const ParallelPlan& plan) { return width_of(plan) * plan.dp; }

bool gathers_layers(const ParallelPlan& plan) { return plan.sharding == Sharding::zero2 || plan.sharding == Sharding::zero3; }

int number_of_groups(const GroupShape& shape, const ParallelPlan& plan) { return stage_gpus(plan) / shape.size; }

/// Number of a group's first member among the GPUs of its stage.
int first_of(int index, const GroupShape& shape) { return index / shape.step * shape.size * shape.step + index % shape.step; }

int gpu_of(int number, int stage, const ParallelPlan& plan, const Placement& placement)
{
    return placement.gpu(number / width_of(plan), stage) + number % width_of(plan);
}

/// A dimension of the whole job: its own members, or groups beside each other.
struct Digit {
    Spacing dimension;
    bool member = false;
};
using Digits = std::vector<Digit>;

/// Splits dimensions where their stride passes a multiple of `cell`; false where one does not fit.
bool split_at(int cell, Digits& digits)
{
    Digits result;
    for (const Digit& digit : digits) {
        const auto [count, stride] = digit.dimension;
        if (stride >= cell || stride * count <= cell) {
            result.push_back(digit);
            continue;
        }
        const int inside = cell / stride;
        if (cell % stride != 0 || count % inside != 0) {
            return false;
        }
        result.push_back({{inside, stride}, digit.member});
        result.push_back({{count / inside, cell}, digit.member});
    }
    digits = std::move(result);
    return true;
}

/// The job as nested dimensions of GPUs, innermost first; nothing where the groups do not fit replicas or buildings, or extend over
/// several stages.
std::optional<Digits> digits_of(const GroupShape& shape, const ParallelPlan& plan, const Placement& placement)
{
    if (shape.copies > 1) {
        return std::nullopt;
    }
    const int width = width_of(plan);
    const int building_numbers = width * placement.replicas_inside();
    const int block = shape.size * shape.step;
    Digits digits{{{shape.step, 1}, false}, {{shape.size, shape.step}, true}, {{stage_gpus(plan) / block, block}, false}};
    if (!split_at(width, digits) || !split_at(building_numbers, digits)) {
        return std::nullopt;
    }
    for (Digit& digit : digits) {
        int& stride = digit.dimension.stride;
        if (stride >= building_numbers && placement.crossing == Crossing::dp) {
            stride = stride / building_numbers * placement.building_gpus;
        } else if (stride >= width) {
            stride = stride / width * placement.replica_stride * width;
        }
    }
    digits.push_back({{placement.stages_inside(), placement.stage_stride * width}, false});
    if (placement.stages_cross()) {
        digits.push_back({{placement.buildings, placement.building_gpus}, false});
    }
    digits.erase(std::remove_if(digits.begin(), digits.end(), [](const Digit& digit) { return digit.dimension.count == 1; }),
                 digits.end());
    std::stable_sort(digits.begin(), digits.end(),
                     [](const Digit& a, const Digit& b) { return a.dimension.stride < b.dimension.stride; });
    return digits;
}

/// Whether units of so many GPUs cut the dimensions into equal parts, so that all groups lie alike in them.
bool fits(int unit, const Digits& digits)
{
    return std::all_of(digits.begin(), digits.end(), [unit](const Digit& digit) {
        const auto [count, stride] = digit.dimension;
        if (stride >= unit) {
            return stride % unit == 0;
        }
        const bool crosses = stride * count > unit;
        return !crosses || (unit % stride == 0 && count % (unit / stride) == 0);
    });
}

bool fits_cluster(const Digits& digits, int used, const Cluster& cluster)
{
    return std::all_of(cluster.tiers.begin(), cluster.tiers.end(), [&](const NetworkTier& tier) {
        const int unit = gpus_joined(tier, cluster);
        return unit >= used || fits(unit, digits);
    });
}

std::vector<Spacing> members_in(const Digits& digits)
{
    std::vector<Spacing> members;
    for (const Digit& digit : digits) {
        if (digit.member) {
            members.push_back(digit.dimension);
        }
    }
    return members;
}

/// Places of the groups of one kind. Distinct ones have numbers.
class KindPlaces {
public:
    KindPlaces(GroupKind kind, const ParallelPlan& plan, const Placement& placement, const Cluster& cluster)
        : kind_(kind), plan_(plan), placement_(placement), cluster_(cluster), shape_(group_shape(kind, plan)),
          digits_(digits_of(shape_, plan, placement))
    {
        if (shape_.size * shape_.copies == 1) {
            alike_ = true;
        } else if (digits_ && fits_cluster(*digits_, used_gpus(), cluster)) {
            alike_ = true;
            groups_.push_back(group_of(members_in(*digits_), 0, cluster));
        }
    }

    /// Whether all groups lie alike; they then have the number 0, if they have several members.
    bool alike() const { return alike_; }
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
        const int set_numbers = width_of(plan_) * placement_.coupled;
        for (int index = 0; index < number_of_groups(shape_, plan_); ++index) {
            const int first = first_of(index, shape_);
            visit(first / set_numbers, number_at(index, first, stage));
        }
    }

    /// The distinct groups of a stage.
    Groups of_stage(int stage)
    {
        if (alike_) {
            return groups_;
        }
        if (neighbours_lie_alike()) {
            return groups({number_at(0, 0, stage)});
        }
        std::set<int> numbers;
        for_groups(stage, [&numbers](int /*set*/, int number) { numbers.insert(number); });
        return groups({numbers.begin(), numbers.end()});
    }

private:
    int used_gpus() const { return placement_.buildings > 1 ? placement_.buildings * placement_.building_gpus : plan_.gpus(); }

    /// Whether the groups of a stage are moved against each other inside units only.
    bool neighbours_lie_alike() const
    {
        const int step = shape_.step;
        return number_of_groups(shape_, plan_) == step && width_of(plan_) % step == 0 &&
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

    /// Groups whose first members lie at the same place of a unit of every tier lie alike.
    int number_at(int index, int first, int stage)
    {
        if (!digits_) {
            return number_of(group_of_members(members_of(kind_, index, stage, plan_, placement_), cluster_));
        }
        const int gpu = gpu_of(first, stage, plan_, placement_);
        const int period = this->period();
        const int place = period > 0 ? gpu % period : gpu;
        auto found = at_places_.find(place);
        if (found == at_places_.end()) {
            found = at_places_.emplace(place, number_of(group_of(members_in(*digits_), gpu, cluster_))).first;
        }
        return found->second;
    }

    /// GPUs after which the units of all tiers begin again together; 0: more than the job has.
    int period()
    {
        if (period_ < 0) {
            std::int64_t common = 1;
            for (const NetworkTier& tier : cluster_.tiers) {
                const int unit = gpus_joined(tier, cluster_);
                common = unit < used_gpus() && common > 0 ? std::lcm(common, static_cast<std::int64_t>(unit)) : common;
                common = common > used_gpus() ? 0 : common;
            }
            period_ = static_cast<int>(common);
        }
        return period_;
    }

    GroupKind kind_;
    const ParallelPlan& plan_;
    const Placement& placement_;
    const Cluster& cluster_;
    GroupShape shape_;
    std::optional<Digits> digits_;
    bool alike_ = false;
    std::vector<Group> groups_;     // by number
    std::map<Group, int> numbers_;  // of groups
    std::map<int, int> at_places_;  // number by the first member's place
    int period_ = -1;
};

/// Whether a message from a stage to the next crosses the same tiers in all replicas.
bool links_lie_alike(const ParallelPlan& plan, const Placement& placement, const Cluster& cluster)
{
    if (plan.pp == 1 || plan.dp == 1) {
        return true;
    }
    const auto digits = digits_of(GroupShape{}, plan, placement);
    const int used = placement.buildings > 1 ? placement.buildings * placement.building_gpus : plan.gpus();
    return digits && fits_cluster(*digits, used, cluster);
}

/// A replica of the set whose message from a stage to the next one crosses the outermost tier.
int widest_link(int set, int stage, const Placement& placement, const Cluster& cluster)
{
    const int next = (stage + 1) % placement.stages;
    int widest = set * placement.coupled;
    std::size_t outermost = 0;
    for (int replica = widest; replica < (set + 1) * placement.coupled; ++replica) {
        const std::size_t tier = tier_between(placement.gpu(replica, stage), placement.gpu(replica, next), cluster);
        if (tier > outermost) {
            outermost = tier;
            widest = replica;
        }
    }
    return widest;
}

std::vector<KindPlaces> kinds_inside_layers(const ParallelPlan& plan, const Placement& placement, const Cluster& cluster)
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
        if (kinds[kind].alike()) {
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

LayerGroups layer_groups(const Numbers& numbers, const std::vector<KindPlaces>& kinds, const ListsOfKinds& lists)
{
    LayerGroups groups;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        const KindPlaces& places = kinds[kind];
        groups.of(static_cast<GroupKind>(kind)) =
            places.alike() ? places.groups() : places.groups(lists[kind].list(numbers[kind]));
    }
    return groups;
}

/// What tells kinds of replicas apart.
struct Signature {
    std::vector<int> layers;         // [stage]
    std::vector<std::size_t> tiers;  // [stage]: that a message to the next stage crosses

    auto operator<=>(const Signature&) const = default;
};

void place_replicas(const ParallelPlan& plan, const Placement& placement, const Cluster& cluster, GroupPlaces& places)
{
    std::vector<KindPlaces> kinds = kinds_inside_layers(plan, placement, cluster);
    const bool alike = links_lie_alike(plan, placement, cluster) &&
                       std::all_of(kinds.begin(), kinds.end(), [](const KindPlaces& kind) { return kind.alike(); });
    const int all_sets = placement.replicas / placement.coupled;
    if (alike) {
        places.layers.push_back(layer_groups({}, kinds, {}));
        places.replicas = {{all_sets, std::vector<int>(placement.stages, 0), std::vector<int>(placement.stages, 0)}};
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
        ReplicaKind replica{.sets = 1, .layers = signatures[set].layers, .link = {}};
        for (int stage = 0; stage < placement.stages; ++stage) {
            const int widest = widest_link(set, stage, placement, cluster);
            const int next = (stage + 1) % placement.stages;
            replica.link.push_back(widest);
            signatures[set].tiers.push_back(tier_between(placement.gpu(widest, stage), placement.gpu(widest, next), cluster));
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

void place_exchanges(const ParallelPlan& plan, const Placement& placement, const Cluster& cluster, GroupPlaces& places)
{
    KindPlaces data(GroupKind::data, plan, placement, cluster);
    KindPlaces expert_data(GroupKind::expert_data, plan, placement, cluster);
    // The ends of a step shard over the same GPUs, whatever the level of sharding.
    ParallelPlan sharding = plan;
    sharding.sharding = Sharding::zero3;
    KindPlaces sharded(GroupKind::sharded, sharding, placement, cluster);
    KindPlaces between(GroupKind::between_shards, sharding, placement, cluster);
    const bool alike = data.alike() && expert_data.alike() && sharded.alike() && between.alike();
    for (int stage = 0; stage < (alike ? 1 : placement.stages); ++stage) {
        places.exchanges.push_back(
            {data.of_stage(stage), sharded.of_stage(stage), between.of_stage(stage), expert_data.of_stage(stage)});
    }
}

/// The largest part of a unit that groups of consecutive GPUs divide, or that divides them.
int dividing_unit(int unit, int extent)
{
    if (extent <= unit) {
        return unit / extent * extent;
    }
    int divisor = unit;
    while (extent % divisor != 0) {
        --divisor;
    }
    return divisor;
}

/// The cluster with so many GPUs in use of each unit of a tier.
Cluster with_units(Cluster cluster, std::size_t tier, int gpus)
{
    const int unit = cluster.tiers[tier].group_gpus;
    for (std::size_t t = tier; t < cluster.tiers.size(); ++t) {
        cluster.tiers[t].group_gpus = cluster.tiers[t].group_gpus / unit * gpus;
    }
    cluster.gpus = cluster.gpus / unit * gpus;
    return cluster;
}

/// Groups of one kind and their places in one tier.
struct KindOnTier {
    std::vector<Group::OnTier> straddling;
    int sets = 0;  // with a straddling group
    int of_sets = 0;
};

KindOnTier kind_on_tier(const GroupPlaces& places, GroupKind kind, std::size_t tier)
{
    int least_units = std::numeric_limits<int>::max();
    for (const LayerGroups& groups : places.layers) {
        for (const Group& group : groups.of(kind)) {
            least_units = std::min(least_units, group.tiers[tier].units);
        }
    }
    KindOnTier result;
    for (const ReplicaKind& replica : places.replicas) {
        bool any = false;
        for (const int groups : replica.layers) {
            for (const Group& group : places.layers[groups].of(kind)) {
                if (group.tiers[tier].units > least_units || !group.even_on(tier)) {
                    any = true;
                    result.straddling.push_back(group.tiers[tier]);
                }
            }
        }
        result.sets += any ? replica.sets : 0;
        result.of_sets += replica.sets;
    }
    return result;
}

bool straddles(const ParallelPlan& plan, const Cluster& cluster, GroupKind kind, std::size_t tier)
{
    return !kind_on_tier(place_groups(plan, place(plan, cluster), cluster), kind, tier).straddling.empty();
}

/// GPUs to use of each unit of the tier so that its groups of this kind do not straddle; 0: none found.
int fitting_unit(const ParallelPlan& plan, const Cluster& cluster, GroupKind kind, std::size_t tier)
{
    if (plan.order != PlacementOrder::tp_dp_pp || cluster.building_gpus() > 0) {
        return 0;
    }
    const GroupShape shape = group_shape(kind, plan);
    const int unit = cluster.tiers[tier].group_gpus;
    const int gpus = dividing_unit(unit, shape.size * shape.step);
    const int inner = tier > 0 ? cluster.tiers[tier - 1].group_gpus : 1;
    const bool possible = gpus > 1 && gpus < unit && gpus % inner == 0 && gpus % width_of(plan) == 0;
    return possible && !straddles(plan, with_units(cluster, tier, gpus), kind, tier) ? gpus : 0;
}

}  // namespace

GroupShape group_shape(GroupKind kind, const ParallelPlan& plan)
{
    const int experts = plan.ep * plan.etp;
    const int replicas = plan.cp * plan.dp;
    const int copies = plan.model_copies();
    const int shard = std::min(plan.sharding_gpus(), plan.gradient_gpus());
    switch (kind) {
        case GroupKind::tensor: return {plan.tp, 1};
        case GroupKind::context: return {plan.cp, plan.tp};
        case GroupKind::expert_tensor: return {plan.etp, 1};
        case GroupKind::expert: return {plan.ep, plan.etp};
        case GroupKind::tables: return {experts, 1};
        case GroupKind::sharded:
            if (!gathers_layers(plan)) {
                return {};
            }
            return shard > replicas ? GroupShape{replicas, plan.tp, shard / replicas} : GroupShape{shard, plan.tp};
        case GroupKind::between_shards:
            if (!gathers_layers(plan) || shard > replicas) {
                return {};
            }
            return {replicas / shard, plan.tp * shard, copies};
        case GroupKind::data: return {replicas, plan.tp, copies};
        case GroupKind::expert_data: break;
    }
    return {std::max(1, stage_gpus(plan) / experts), experts, copies};
}

std::vector<int> members_of(GroupKind kind, int index, int stage, const ParallelPlan& plan, const Placement& placement)
{
    const GroupShape shape = group_shape(kind, plan);
    const int first = first_of(index, shape);
    std::vector<int> members;
    for (int copy = 0; copy < shape.copies; ++copy) {
        const int own = copy == 0 ? stage : plan.pp - 1 - stage;
        for (int i = 0; i < shape.size; ++i) {
            members.push_back(gpu_of(first + i * shape.step, own, plan, placement));
        }
    }
    std::sort(members.begin(), members.end());
    return members;
}

std::vector<Straddling> straddling_groups(const ParallelPlan& plan, const Cluster& cluster)
{
    const GroupPlaces places = place_groups(plan, place(plan, cluster), cluster);
    std::vector<Straddling> result;
    for (std::size_t k = 0; k < LayerGroups::kinds; ++k) {
        const auto kind = static_cast<GroupKind>(k);
        const int size = size_of(places.layers.front().of(kind));
        for (std::size_t tier = 0; size > 1 && tier < cluster.tiers.size(); ++tier) {
            const KindOnTier found = kind_on_tier(places, kind, tier);
            if (found.straddling.empty()) {
                continue;
            }
            const Group::OnTier worst =
                *std::min_element(found.straddling.begin(), found.straddling.end(), [](const auto& a, const auto& b) {
                    return a.fewest != b.fewest ? a.fewest < b.fewest : a.units > b.units;
                });
            result.push_back({.kind = kind,
                              .tier = tier,
                              .size = size,
                              .unit = gpus_joined(cluster.tiers[tier], cluster),
                              .sets = found.sets,
                              .of_sets = found.of_sets,
                              .worst = worst,
                              .fitting_unit = fitting_unit(plan, cluster, kind, tier)});
            break;
        }
    }
    return result;
}

GroupKey group_key(const ParallelPlan& plan)
{
    return {{plan.tp, plan.cp, plan.pp, plan.dp, plan.ep, plan.etp, plan.sharding_gpus(), plan.model_copies(),
             static_cast<int>(gathers_layers(plan)), static_cast<int>(plan.dp_overlap), static_cast<int>(plan.order),
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
