/// Members of process groups: against lists of ranks as training programs make them.

#include "model/plan/process_groups.hpp"

#include "tests/support/random_groups.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace prismopt {
namespace {

/// A dimension of a job: its name and size.
struct MeshDimension {
    std::string name;
    int size;
};

/// Groups along some dimensions of a mesh whose first dimension varies fastest: Megatron-Core's rule of
/// RankGenerator (megatron/core/parallel_state.py, generate_masked_orthogonal_rank_groups), and, from the
/// last dimension to the first, that of torch.distributed.device_mesh (row-major).
std::set<std::vector<int>> groups_along(const std::vector<MeshDimension>& mesh,
                                        const std::set<std::string>& along)
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
    RandomValues random(1);
    int with_experts = 0;
    for (int i = 0; i < random_cases; ++i) {
        Case c = random_case(random);
        c.plan.schedule = Schedule::one_f_one_b;
        c.plan.chunks = 1;
        const ParallelPlan& plan = c.plan;
        const Placement placement = place(plan, c.cluster);
        const bool stages_last = plan.order == PlacementOrder::tp_dp_pp;
        const MeshDimension stages{"pp", plan.pp};
        const MeshDimension replicas{"dp", plan.dp};
        const std::vector<MeshDimension> dense{{"tp", plan.tp},
                                               {"cp", plan.cp},
                                               stages_last ? replicas : stages,
                                               stages_last ? stages : replicas};
        EXPECT_EQ(groups_of(GroupKind::tensor, plan, placement), groups_along(dense, {"tp"})) << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::context, plan, placement), groups_along(dense, {"cp"})) << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::data, plan, placement), groups_along(dense, {"cp", "dp"}))
            << text_of(c);
        // hierarchical_context_parallel_sizes: neighbours exchange heads, equal
        // ones of them keys (arguments.py).
        std::vector<MeshDimension> levels = dense;
        levels[1] = {"heads", plan.head_gpus()};
        levels.insert(levels.begin() + 2, {"keys", plan.ring_gpus()});
        EXPECT_EQ(groups_of(GroupKind::context_heads, plan, placement), groups_along(levels, {"heads"}))
            << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::context_ring, plan, placement), groups_along(levels, {"keys"}))
            << text_of(c);
        const int expert_replicas = plan.tp * plan.cp * plan.dp / (plan.ep * plan.etp);
        if (!stages_last && plan.pp > 1 && expert_replicas != plan.dp) {
            continue;  // Megatron-Core refuses it
        }
        ++with_experts;
        const MeshDimension of_experts{"dp", expert_replicas};
        const std::vector<MeshDimension> experts{{"tp", plan.etp},
                                                 {"ep", plan.ep},
                                                 stages_last ? of_experts : stages,
                                                 stages_last ? stages : of_experts};
        EXPECT_EQ(groups_of(GroupKind::expert_tensor, plan, placement), groups_along(experts, {"tp"}))
            << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::expert, plan, placement), groups_along(experts, {"ep"})) << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::tables, plan, placement), groups_along(experts, {"tp", "ep"}))
            << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::expert_data, plan, placement), groups_along(experts, {"dp"}))
            << text_of(c);
    }
    EXPECT_GT(with_experts, random_cases / 3);
}

/// torchtitan: pp, dp_replicate, dp_shard, cp, tp, row-major (torchtitan/distributed/parallel_dims.py);
/// it shards over dp_shard and cp.
TEST(ProcessGroups, AreThoseOfADeviceMesh)
{
    RandomValues random(2);
    for (int i = 0; i < random_cases; ++i) {
        Case c = random_case(random);
        ParallelPlan& plan = c.plan;
        plan.schedule = Schedule::one_f_one_b;
        plan.chunks = 1;
        plan.order = PlacementOrder::tp_dp_pp;
        plan.sharding = Sharding::zero3;
        const int shard = random.divisor(plan.dp);
        plan.shard_gpus = plan.cp * shard;
        const Placement placement = place(plan, c.cluster);
        const std::vector<MeshDimension> mesh{{"tp", plan.tp},
                                              {"cp", plan.cp},
                                              {"shard", shard},
                                              {"replicate", plan.dp / shard},
                                              {"pp", plan.pp}};
        EXPECT_EQ(groups_of(GroupKind::sharded, plan, placement), groups_along(mesh, {"cp", "shard"}))
            << text_of(c);
        EXPECT_EQ(groups_of(GroupKind::between_shards, plan, placement), groups_along(mesh, {"replicate"}))
            << text_of(c);
    }
}

}  // namespace
}  // namespace prismopt
