#include "model/plan/process_groups.hpp"

#include "model/hardware/collective.hpp"
#include "model/plan/coupling.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
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
    for (const Digit& digit : digits) {
        const auto [count, stride] = digit.dimension;
        if (stride >= unit) {
            if (stride % unit != 0) {
                return false;
            }
            continue;
        }
        const int steps = unit / stride;
        const bool crosses = stride * count > unit;
        if (crosses && (unit % stride != 0 || count % steps != 0)) {
            return false;
        }
    }
    return true;
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

/// Places of the groups of one kind.
class KindPlaces {
public:
    KindPlaces(GroupKind kind, const ParallelPlan& plan, const Placement& placement, const Cluster& cluster)
        : kind_(kind), plan_(plan), placement_(placement), cluster_(cluster), shape_(group_shape(kind, plan)),
          digits_(digits_of(shape_, plan, placement))
    {
        if (shape_.size * shape_.copies == 1) {
            equal_ = Group{};
        } else if (digits_ && fits_cluster(*digits_, used_gpus(), cluster)) {
            equal_ = group_of(members_in(*digits_), 0, cluster);
        }
    }

    /// The one place of all groups, if they lie alike.
    const std::optional<Group>& equal() const { return equal_; }
    const GroupShape& shape() const { return shape_; }

    /// Calls visit(set of coupled replicas, group) for all groups of a stage.
    template <class Visit>
    void for_groups(int stage, Visit&& visit)
    {
        const int set_numbers = width_of(plan_) * placement_.coupled;
        for (int index = 0; index < number_of_groups(shape_, plan_); ++index) {
            const int first = first_of(index, shape_);
            visit(first / set_numbers, at(index, first, stage));
        }
    }

    /// The group of a stage that spreads most.
    Group widest(int stage)
    {
        if (equal_) {
            return *equal_;
        }
        Group widest;
        for_groups(stage, [&widest](int /*set*/, const Group& group) {
            if (widest.size == 1 || spreads_more(group, widest)) {
                widest = group;
            }
        });
        return widest;
    }

private:
    int used_gpus() const { return placement_.buildings > 1 ? placement_.buildings * placement_.building_gpus : plan_.gpus(); }

    /// Groups whose first members lie at the same place of a unit of every tier lie alike.
    const Group& at(int index, int first, int stage)
    {
        if (!digits_) {
            const std::vector<int> members = members_of(kind_, index, stage, plan_, placement_);
            other_ = group_of_members(members, cluster_);
            return other_;
        }
        const int gpu = gpu_of(first, stage, plan_, placement_);
        const int period = this->period();
        const int key = period > 0 ? gpu % period : gpu;
        auto found = known_.find(key);
        if (found == known_.end()) {
            found = known_.emplace(key, group_of(members_in(*digits_), gpu, cluster_)).first;
        }
        return found->second;
    }

    /// GPUs after which the units of all tiers begin again together; 0: too many to say.
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
    std::optional<Group> equal_;
    std::map<int, Group> known_;  // by the first member's place
    Group other_;
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

/// Groups inside the layers of a stage, by set of coupled replicas.
std::vector<LayerGroups> groups_of_sets(int stage, int sets, std::vector<KindPlaces>& kinds)
{
    LayerGroups common;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        common.of(static_cast<GroupKind>(kind)) = kinds[kind].equal().value_or(Group{});
    }
    std::vector<LayerGroups> of_sets(sets, common);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        if (!kinds[kind].equal()) {
            kinds[kind].for_groups(stage, [&](int set, const Group& group) {
                Group& own = of_sets[set].of(static_cast<GroupKind>(kind));
                if (own.size == 1 || spreads_more(group, own)) {
                    own = group;
                }
            });
        }
    }
    return of_sets;
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
                       std::all_of(kinds.begin(), kinds.end(), [](const KindPlaces& kind) { return kind.equal().has_value(); });
    const int all_sets = placement.replicas / placement.coupled;
    const int sets = alike ? 1 : all_sets;
    const int stages = alike ? 1 : placement.stages;
    std::map<LayerGroups, int> known;
    std::vector<Signature> signatures(sets);
    for (int stage = 0; stage < stages; ++stage) {
        const std::vector<LayerGroups> of_sets = groups_of_sets(stage, sets, kinds);
        for (int set = 0; set < sets; ++set) {
            const auto [found, is_new] = known.emplace(of_sets[set], static_cast<int>(places.layers.size()));
            if (is_new) {
                places.layers.push_back(of_sets[set]);
            }
            signatures[set].layers.push_back(found->second);
        }
    }
    if (alike) {
        places.replicas = {{all_sets, std::vector<int>(placement.stages, 0), std::vector<int>(placement.stages, 0)}};
        return;
    }
    std::map<Signature, std::size_t> kinds_of_replicas;
    for (int set = 0; set < sets; ++set) {
        ReplicaKind replica{.sets = 1, .layers = signatures[set].layers, .link = {}};
        for (int stage = 0; stage < stages; ++stage) {
            const int widest = widest_link(set, stage, placement, cluster);
            const int next = (stage + 1) % stages;
            replica.link.push_back(widest);
            signatures[set].tiers.push_back(
                tier_between(placement.gpu(widest, stage), placement.gpu(widest, next), cluster));
        }
        const auto [found, is_new] = kinds_of_replicas.emplace(signatures[set], places.replicas.size());
        if (is_new) {
            places.replicas.push_back(std::move(replica));
        } else {
            ++places.replicas[found->second].sets;
        }
    }
}

void place_exchanges(const ParallelPlan& plan, const Placement& placement, const Cluster& cluster, GroupPlaces& places)
{
    // Without a switch of kinds: groups that shard a step's ends are those of layers, whatever the level of sharding.
    KindPlaces data(GroupKind::data, plan, placement, cluster);
    KindPlaces expert_data(GroupKind::expert_data, plan, placement, cluster);
    ParallelPlan sharding = plan;
    sharding.sharding = Sharding::zero3;
    KindPlaces sharded(GroupKind::sharded, sharding, placement, cluster);
    KindPlaces between(GroupKind::between_shards, sharding, placement, cluster);
    const bool alike = data.equal() && expert_data.equal() && sharded.equal() && between.equal();
    for (int stage = 0; stage < (alike ? 1 : placement.stages); ++stage) {
        places.exchanges.push_back(
            {data.widest(stage), sharded.widest(stage), between.widest(stage), expert_data.widest(stage)});
    }
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
