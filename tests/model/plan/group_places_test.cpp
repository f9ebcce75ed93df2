/// Where process groups lie: against lists of their members.

#include "model/plan/group_places.hpp"

#include "model/hardware/collective.hpp"
#include "tests/support/random_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace prismopt {
namespace {

constexpr std::array inside_layers{GroupKind::tensor,        GroupKind::context,
                                   GroupKind::context_heads, GroupKind::context_ring,
                                   GroupKind::expert_tensor, GroupKind::expert,
                                   GroupKind::tables,        GroupKind::sharded,
                                   GroupKind::between_shards};

/// Counts by listing the members of a group, the obvious way.
Group counted(const std::vector<int>& members, const Cluster& cluster)
{
    Group group;
    if (members.size() <= 1) {
        return group;
    }
    group.size = static_cast<int>(members.size());
    for (const NetworkTier& tier : cluster.tiers) {
        std::map<int, int> in_unit;
        for (const int gpu : members) {
            ++in_unit[gpu / tier.group_gpus];
        }
        int fewest = group.size;
        for (const auto& [unit, count] : in_unit) {
            fewest = std::min(fewest, count);
        }
        group.tiers.push_back({fewest, static_cast<int>(in_unit.size())});
    }
    return group;
}

/// Adds a group of several members to the distinct ones.
void add(const Group& group, Groups& groups)
{
    if (group.size > 1 && std::find(groups.begin(), groups.end(), group) == groups.end()) {
        groups.push_back(group);
    }
}

Groups sorted(Groups groups)
{
    std::sort(groups.begin(), groups.end());
    return groups;
}

LayerGroups sorted(LayerGroups groups)
{
    for (const GroupKind kind : inside_layers) {
        groups.of(kind) = sorted(groups.of(kind));
    }
    return groups;
}

/// The distinct groups of a stage and a set of replicas, member by member.
LayerGroups listed(const Case& c, const Placement& placement, int set, int stage)
{
    const int width = c.plan.tp * c.plan.cp;
    LayerGroups groups;
    for (const GroupKind kind : inside_layers) {
        const GroupShape shape = group_shape(kind, c.plan);
        for (int index = 0; index < width * c.plan.dp / shape.size; ++index) {
            const int first = index / shape.step * shape.size * shape.step + index % shape.step;
            if (first / (width * placement.coupled) == set) {
                add(counted(members_of(kind, index, stage, c.plan, placement), c.cluster), groups.of(kind));
            }
        }
    }
    return sorted(groups);
}

int uneven_groups(const LayerGroups& groups)
{
    int uneven = 0;
    for (const GroupKind kind : inside_layers) {
        const Groups& of_kind = groups.of(kind);
        uneven += static_cast<int>(std::count_if(of_kind.begin(), of_kind.end(), [](const Group& group) {
            return group.size > 1 && !group.even();
        }));
    }
    return uneven;
}

/// Of a stage and a set of replicas that meet inside layers, the distinct ones of each kind; at the
/// ends of a step, those of a stage.
TEST(GroupPlaces, LieWhereTheirMembersDo)
{
    RandomValues random(3);
    int uneven = 0;
    int several_kinds = 0;
    for (int i = 0; i < random_cases; ++i) {
        const Case c = random_case(random);
        const ParallelPlan& plan = c.plan;
        const Placement placement = place(plan, c.cluster);
        const GroupPlaces places = place_groups(plan, placement, c.cluster);
        const int width = plan.tp * plan.cp;
        std::map<std::vector<LayerGroups>, int> sets;  // by their stages
        for (int set = 0; set < plan.dp / placement.coupled; ++set) {
            std::vector<LayerGroups> stages;
            for (int stage = 0; stage < plan.pp; ++stage) {
                stages.push_back(listed(c, placement, set, stage));
                uneven += uneven_groups(stages.back());
            }
            ++sets[stages];
        }
        std::map<std::vector<LayerGroups>, int> placed;
        for (const ReplicaKind& replica : places.replicas) {
            std::vector<LayerGroups> stages;
            for (const int groups : replica.layers) {
                stages.push_back(sorted(places.layers[groups]));
            }
            placed[stages] += replica.sets;
        }
        EXPECT_EQ(placed, sets) << text_of(c);
        several_kinds += sets.size() > 1 ? 1 : 0;
        for (int stage = 0; stage < plan.pp; ++stage) {
            for (const GroupKind kind : {GroupKind::data, GroupKind::expert_data}) {
                Groups distinct;
                for (int index = 0; index < width * plan.dp / group_shape(kind, plan).size; ++index) {
                    add(counted(members_of(kind, index, stage, plan, placement), c.cluster), distinct);
                }
                const ExchangeGroups& exchange = places.exchange(stage);
                EXPECT_EQ(sorted(kind == GroupKind::data ? exchange.data : exchange.expert_data),
                          sorted(distinct))
                    << text_of(c) << " " << stage;
            }
        }
    }
    EXPECT_GT(uneven, 100);        // groups that straddle units are among them,
    EXPECT_GT(several_kinds, 20);  // and replicas that differ
}

constexpr std::array collectives{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                 Collective::all_to_all};

/// Expects that groups on a cluster take as long as others on another one.
void expect_equal_times(const Groups& groups, const Cluster& cluster, const Groups& others,
                        const Cluster& other, const std::string& what)
{
    for (const Collective collective : collectives) {
        EXPECT_EQ(slowest_collective(collective, Bytes{1e8}, groups, cluster).si,
                  slowest_collective(collective, Bytes{1e8}, others, other).si)
            << what;
    }
}

/// Nodes that hold one member of each group are as good as nodes of one GPU.
TEST(GroupPlaces, HaveNoUseOfNodesThatHoldOneMember)
{
    RandomValues random(4);
    int found = 0;
    for (int i = 0; i < random_cases; ++i) {
        Case c = random_case(random);
        Cluster ungrouped = c.cluster;
        ungrouped.tiers[0].group_gpus = 1;
        const Placement placement = place(c.plan, c.cluster);
        const GroupPlaces places = place_groups(c.plan, placement, c.cluster);
        const GroupPlaces places_ungrouped = place_groups(c.plan, place(c.plan, ungrouped), ungrouped);
        const LayerGroups& groups = places.layers[places.replicas.front().layers.front()];
        const LayerGroups& alone = places_ungrouped.layers[places_ungrouped.replicas.front().layers.front()];
        for (const GroupKind kind : inside_layers) {
            const Groups& own = groups.of(kind);
            const auto in_separate_units = [](const Group& group) {
                return group.tiers[0].units == group.size;
            };
            if (own.empty() || !std::all_of(own.begin(), own.end(), in_separate_units)) {
                continue;
            }
            ++found;
            expect_equal_times(own, c.cluster, alone.of(kind), ungrouped, text_of(c));
        }
    }
    EXPECT_GT(found, 100);
}

/// What lies inside a node does not use the network.
TEST(GroupPlaces, InsideANodeNeedNoNetwork)
{
    RandomValues random(5);
    int found = 0;
    for (int i = 0; i < random_cases; ++i) {
        const Case c = random_case(random);
        Cluster slow = c.cluster;
        for (std::size_t tier = 1; tier < slow.tiers.size(); ++tier) {
            slow.tiers[tier].bandwidth = BytesPerSecond{1e6};
            slow.tiers[tier].latency = Seconds{1.0};
        }
        const GroupPlaces places = place_groups(c.plan, place(c.plan, c.cluster), c.cluster);
        for (const LayerGroups& groups : places.layers) {
            for (const GroupKind kind : inside_layers) {
                const Groups& own = groups.of(kind);
                if (own.empty() || std::any_of(own.begin(), own.end(),
                                               [](const Group& g) { return g.tiers[0].units > 1; })) {
                    continue;
                }
                ++found;
                expect_equal_times(own, c.cluster, own, slow, text_of(c));
            }
        }
    }
    EXPECT_GT(found, 100);
}

/// Racks of 72 GPUs, 8 replicas of 64: groups of 64 lie in one rack (the first and the last) or straddle two.
TEST(GroupPlaces, StraddleRacksThatTheyDoNotDivide)
{
    const Cluster cluster = cluster_of(72, 576, 576);
    ParallelPlan plan;
    plan.dp = 576;
    plan.ep = 64;
    const GroupPlaces places = place_groups(plan, place(plan, cluster), cluster);
    std::map<std::pair<int, int>, int> found;  // fewest members, units
    for (const ReplicaKind& replica : places.replicas) {
        const Group& group = places.layers[replica.layers.front()].of(GroupKind::expert).front();
        found[{group.tiers[0].fewest, group.tiers[0].units}] += replica.sets;
    }
    EXPECT_EQ((found[{64, 1}]), 2);
    int straddling = 0;
    for (const auto& [where, sets] : found) {
        straddling += where.second == 2 ? sets : 0;
    }
    EXPECT_EQ(straddling, 7);
}

/// Two buildings of 64 GPUs: what crosses them is the outermost dimension, whatever the order inside.
TEST(GroupPlaces, LieInTheBuildingsOfTheirMembers)
{
    Cluster cluster = cluster_of(8, 64, 128);
    cluster.tiers.back().aggregate = BytesPerSecond{1e12};
    for (const PlacementOrder order : {PlacementOrder::tp_pp_dp, PlacementOrder::tp_dp_pp}) {
        ParallelPlan plan;
        plan.tp = 4;
        plan.pp = 4;
        plan.dp = 8;
        plan.order = order;
        plan.crossing = Crossing::dp;
        const GroupPlaces over_replicas = place_groups(plan, place(plan, cluster), cluster);
        EXPECT_EQ(over_replicas.exchange(0).data.front().tiers[1], (Group::OnTier{4, 2}));
        plan.crossing = Crossing::pp;
        const GroupPlaces over_stages = place_groups(plan, place(plan, cluster), cluster);
        EXPECT_EQ(over_stages.exchange(0).data.front().tiers[1], (Group::OnTier{8, 1}));
    }
}

}  // namespace
}  // namespace prismopt
