/// Where process groups lie: against lists of members, rank by rank, as training programs make them.

#include "model/plan/process_groups.hpp"

#include "model/hardware/collective.hpp"
#include "model/plan/coupling.hpp"
#include "tests/support/example_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

namespace prismopt {
namespace {

constexpr int random_plans = 600;

constexpr std::array inside_layers{GroupKind::tensor, GroupKind::context, GroupKind::expert_tensor, GroupKind::expert,
                                   GroupKind::tables, GroupKind::sharded, GroupKind::between_shards};

/// A plan on a cluster that it fits.
struct Case {
    ParallelPlan plan;
    Cluster cluster;
};

class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}

    template <class T>
    T pick(std::initializer_list<T> values)
    {
        return values.begin()[engine_() % values.size()];
    }
    int divisor(int number)
    {
        std::vector<int> divisors;
        for (int d = 1; d <= number; ++d) {
            if (number % d == 0) {
                divisors.push_back(d);
            }
        }
        return divisors[engine_() % divisors.size()];
    }

private:
    std::mt19937 engine_;
};

/// Nodes, racks and leaves, which groups fit or not.
Cluster cluster_of(int node, int leaf, int gpus)
{
    Cluster cluster = example_cluster(gpus);
    cluster.tiers = {{"node", node, BytesPerSecond{400e9}, 0.8, Seconds{3e-6}, 1.0},
                     {"leaf", leaf, BytesPerSecond{50e9}, 0.9, Seconds{6e-6}, 1.0},
                     {"cluster", gpus, BytesPerSecond{50e9}, 0.9, Seconds{9e-6}, 2.0}};
    return cluster;
}

Case random_case(Random& random)
{
    Case c;
    ParallelPlan& plan = c.plan;
    plan.tp = random.pick({1, 2, 4, 8});
    plan.cp = random.pick({1, 1, 2, 4});
    plan.pp = random.pick({1, 2, 3, 4, 6, 8});
    plan.dp = random.pick({1, 2, 3, 4, 6, 8, 12, 16});
    plan.etp = random.divisor(plan.tp);
    plan.ep = random.divisor(plan.tp * plan.cp * plan.dp / plan.etp);
    plan.order = random.pick({PlacementOrder::tp_pp_dp, PlacementOrder::tp_dp_pp});
    plan.sharding = random.pick({Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3});
    plan.dp_overlap = random.pick({DataParallelOverlap::on, DataParallelOverlap::off});
    plan.shard_gpus = random.pick({0, 1}) == 0 ? 0 : random.divisor(plan.cp * plan.dp);
    const int node = random.pick({1, 4, 8, 16, 18, 36, 72});
    c.cluster = cluster_of(node, node * random.pick({2, 3, 4, 8}), (plan.gpus() / node + 9) * node * 24);
    if (plan.pp % 2 == 0 && random.pick({0, 1, 2}) == 0) {
        plan.schedule = Schedule::dualpipe;
        plan.chunks = 2;
    }
    return c;
}

std::string text_of(const Case& c)
{
    const ParallelPlan& p = c.plan;
    return "tp " + std::to_string(p.tp) + " cp " + std::to_string(p.cp) + " pp " + std::to_string(p.pp) + " dp " +
           std::to_string(p.dp) + " ep " + std::to_string(p.ep) + " etp " + std::to_string(p.etp) + " shard " +
           std::to_string(p.shard_gpus) + " " + std::string(name(p.order)) + " " + std::string(name(p.sharding)) + " " +
           std::string(name(p.schedule)) + " node " + std::to_string(c.cluster.gpus_per_node());
}

// ---- Lists of ranks as programs make them

/// A dimension of a job: its name and size.
struct MeshDimension {
    std::string name;
    int size;
};

/// Groups along some dimensions of a mesh whose first dimension varies fastest: Megatron-Core's rule of RankGenerator
/// (megatron/core/parallel_state.py, generate_masked_orthogonal_rank_groups), and, from the last dimension to the first, that of
/// torch.distributed.device_mesh (row-major).
std::set<std::vector<int>> groups_along(const std::vector<MeshDimension>& mesh, const std::set<std::string>& along)
{
    int ranks = 1;
    for (const MeshDimension& dimension : mesh) {
        ranks *= dimension.size;
    }
    std::map<std::vector<int>, std::vector<int>> groups;  // by the coordinates in the other dimensions
    for (int rank = 0; rank < ranks; ++rank) {
        std::vector<int> others;
        int rest = rank;
        for (const MeshDimension& dimension : mesh) {
            if (!along.contains(dimension.name)) {
                others.push_back(rest % dimension.size);
            }
            rest /= dimension.size;
        }
        groups[others].push_back(rank);
    }
    std::set<std::vector<int>> result;
    for (const auto& [others, members] : groups) {
        result.insert(members);
    }
    return result;
}

std::set<std::vector<int>> groups_of(GroupKind kind, const ParallelPlan& plan, const Placement& placement)
{
    const GroupShape shape = group_shape(kind, plan);
    std::set<std::vector<int>> groups;
    for (int stage = 0; stage < plan.pp; ++stage) {
        for (int index = 0; index < plan.tp * plan.cp * plan.dp / shape.size; ++index) {
            groups.insert(members_of(kind, index, stage, plan, placement));
        }
    }
    return groups;
}

TEST(ProcessGroups, AreThoseOfMegatronCore)
{
    Random random(1);
    int with_experts = 0;
    for (int i = 0; i < random_plans; ++i) {
        Case c = random_case(random);
        c.plan.schedule = Schedule::one_f_one_b;
        c.plan.chunks = 1;
        const ParallelPlan& plan = c.plan;
        const Placement placement = place(plan, c.cluster);
        const bool stages_last = plan.order == PlacementOrder::tp_dp_pp;
        const MeshDimension stages{"pp", plan.pp};
        const MeshDimension replicas{"dp", plan.dp};
        const std::vector<MeshDimension> dense{
            {"tp", plan.tp}, {"cp", plan.cp}, stages_last ? replicas : stages, stages_last ? stages : replicas};
        EXPECT_EQ(groups_of(GroupKind::tensor, plan, placement), groups_along(dense, {"tp"})) << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::context, plan, placement), groups_along(dense, {"cp"})) << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::data, plan, placement), groups_along(dense, {"cp", "dp"})) << text_of(c);
        const int expert_replicas = plan.tp * plan.cp * plan.dp / (plan.ep * plan.etp);
        if (!stages_last && plan.pp > 1 && expert_replicas != plan.dp) {
            continue;  // Megatron-Core refuses it
        }
        ++with_experts;
        const MeshDimension of_experts{"dp", expert_replicas};
        const std::vector<MeshDimension> experts{
            {"tp", plan.etp}, {"ep", plan.ep}, stages_last ? of_experts : stages, stages_last ? stages : of_experts};
        EXPECT_EQ(groups_of(GroupKind::expert_tensor, plan, placement), groups_along(experts, {"tp"})) << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::expert, plan, placement), groups_along(experts, {"ep"})) << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::tables, plan, placement), groups_along(experts, {"tp", "ep"})) << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::expert_data, plan, placement), groups_along(experts, {"dp"})) << text_of(c);
    }
    EXPECT_GT(with_experts, random_plans / 3);
}

/// torchtitan: pp, dp_replicate, dp_shard, cp, tp, row-major (torchtitan/distributed/parallel_dims.py); it shards over dp_shard and cp.
TEST(ProcessGroups, AreThoseOfADeviceMesh)
{
    Random random(2);
    for (int i = 0; i < random_plans; ++i) {
        Case c = random_case(random);
        ParallelPlan& plan = c.plan;
        plan.schedule = Schedule::one_f_one_b;
        plan.chunks = 1;
        plan.order = PlacementOrder::tp_dp_pp;
        plan.sharding = Sharding::zero3;
        const int shard = random.divisor(plan.dp);
        plan.shard_gpus = plan.cp * shard;
        const Placement placement = place(plan, c.cluster);
        const std::vector<MeshDimension> mesh{
            {"tp", plan.tp}, {"cp", plan.cp}, {"shard", shard}, {"replicate", plan.dp / shard}, {"pp", plan.pp}};
        EXPECT_EQ(groups_of(GroupKind::sharded, plan, placement), groups_along(mesh, {"cp", "shard"})) << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::between_shards, plan, placement), groups_along(mesh, {"replicate"})) << text_of(c);
    }
}

// ---- Places

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

/// Of a stage and a set of replicas that meet inside layers, the distinct ones of each kind; at the ends of a step, those of a stage.
TEST(ProcessGroups, LieWhereTheirMembersDo)
{
    Random random(3);
    int uneven = 0;
    int several_kinds = 0;
    for (int i = 0; i < random_plans; ++i) {
        const Case c = random_case(random);
        const ParallelPlan& plan = c.plan;
        const Placement placement = place(plan, c.cluster);
        const GroupPlaces places = place_groups(plan, placement, c.cluster);
        const int width = plan.tp * plan.cp;
        std::map<std::vector<LayerGroups>, int> sets;  // by their stages
        for (int set = 0; set < plan.dp / placement.coupled; ++set) {
            std::vector<LayerGroups> stages(plan.pp);
            for (int stage = 0; stage < plan.pp; ++stage) {
                for (const GroupKind kind : inside_layers) {
                    const GroupShape shape = group_shape(kind, plan);
                    for (int index = 0; index < width * plan.dp / shape.size; ++index) {
                        const int first = index / shape.step * shape.size * shape.step + index % shape.step;
                        if (first / (width * placement.coupled) == set) {
                            const Group group = counted(members_of(kind, index, stage, plan, placement), c.cluster);
                            add(group, stages[stage].of(kind));
                            uneven += group.size > 1 && !group.even() ? 1 : 0;
                        }
                    }
                }
                stages[stage] = sorted(stages[stage]);
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
                EXPECT_EQ(sorted(kind == GroupKind::data ? exchange.data : exchange.expert_data), sorted(distinct))
                    << text_of(c) << " " << stage;
            }
        }
    }
    EXPECT_GT(uneven, 100);        // groups that straddle units are among them,
    EXPECT_GT(several_kinds, 20);  // and replicas that differ
}

constexpr std::array collectives{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                 Collective::all_to_all};

/// Nodes that hold one member of each group are as good as nodes of one GPU.
TEST(ProcessGroups, HaveNoUseOfNodesThatHoldOneMember)
{
    Random random(4);
    int found = 0;
    for (int i = 0; i < random_plans; ++i) {
        Case c = random_case(random);
        Cluster apart = c.cluster;
        apart.tiers[0].group_gpus = 1;
        const Placement placement = place(c.plan, c.cluster);
        const GroupPlaces places = place_groups(c.plan, placement, c.cluster);
        const GroupPlaces places_apart = place_groups(c.plan, place(c.plan, apart), apart);
        const LayerGroups& groups = places.layers[places.replicas.front().layers.front()];
        const LayerGroups& alone = places_apart.layers[places_apart.replicas.front().layers.front()];
        for (const GroupKind kind : inside_layers) {
            const Groups& own = groups.of(kind);
            const auto apart_from_others = [](const Group& group) { return group.tiers[0].units == group.size; };
            if (own.empty() || !std::all_of(own.begin(), own.end(), apart_from_others)) {
                continue;
            }
            ++found;
            for (const Collective collective : collectives) {
                EXPECT_EQ(slowest_collective(collective, Bytes{1e8}, own, c.cluster).si,
                          slowest_collective(collective, Bytes{1e8}, alone.of(kind), apart).si)
                    << text_of(c) << " " << row_of(kind).name;
            }
        }
    }
    EXPECT_GT(found, 100);
}

/// What lies inside a node does not use the network.
TEST(ProcessGroups, InsideANodeNeedNoNetwork)
{
    Random random(5);
    int found = 0;
    for (int i = 0; i < random_plans; ++i) {
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
                if (own.empty() || std::any_of(own.begin(), own.end(), [](const Group& g) { return g.tiers[0].units > 1; })) {
                    continue;
                }
                ++found;
                for (const Collective collective : collectives) {
                    EXPECT_EQ(slowest_collective(collective, Bytes{1e8}, own, c.cluster).si,
                              slowest_collective(collective, Bytes{1e8}, own, slow).si)
                        << text_of(c) << " " << row_of(kind).name;
                }
            }
        }
    }
    EXPECT_GT(found, 100);
}

/// Racks of 72 GPUs, 8 replicas of 64: groups of 64 lie in one rack (the first and the last) or straddle two.
TEST(ProcessGroups, StraddleRacksThatTheyDoNotDivide)
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

/// The advice of a smaller unit is checked: none where other degrees or tiers would not fit it.
TEST(ProcessGroups, AdviseUnitsThatFit)
{
    Random random(6);
    int advised = 0;
    for (int i = 0; i < random_plans; ++i) {
        const Case c = random_case(random);
        for (const Straddling& straddling : straddling_groups(c.plan, c.cluster)) {
            EXPECT_GT(straddling.sets, 0) << text_of(c);
            EXPECT_LE(straddling.sets, straddling.of_sets) << text_of(c);
            if (straddling.fitting_unit == 0) {
                continue;
            }
            ++advised;
            Cluster better = c.cluster;
            for (std::size_t tier = straddling.tier; tier < better.tiers.size(); ++tier) {
                better.tiers[tier].group_gpus = better.tiers[tier].group_gpus / straddling.unit * straddling.fitting_unit;
            }
            better.gpus = better.gpus / straddling.unit * straddling.fitting_unit;
            EXPECT_EQ(straddling.fitting_unit % (c.plan.tp * c.plan.cp), 0) << text_of(c);
            for (const Straddling& still : straddling_groups(c.plan, better)) {
                EXPECT_FALSE(still.kind == straddling.kind && still.tier == straddling.tier) << text_of(c);
            }
        }
    }
    EXPECT_GT(advised, 10);
}

/// Two buildings of 64 GPUs: what crosses them is the outermost dimension, whatever the order inside.
TEST(ProcessGroups, LieInTheBuildingsOfTheirMembers)
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
