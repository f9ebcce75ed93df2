#include "model/plan/process_groups.hpp"

#include <algorithm>

namespace prismopt {

GroupShape group_shape(GroupKind kind, const ParallelPlan& plan)
{
    const int experts = plan.ep * plan.etp;
    const int replicas = plan.cp * plan.dp;
    const int copies = plan.model_copies();
    const int shard = std::min(plan.sharding_gpus(), plan.gradient_gpus());
    switch (kind) {
        case GroupKind::tensor: return {plan.tp, 1};
        case GroupKind::context: return {plan.cp, plan.tp};
        case GroupKind::context_heads: return {plan.head_gpus(), plan.tp};
        case GroupKind::context_ring: return {plan.ring_gpus(), plan.tp * plan.head_gpus()};
        case GroupKind::expert_tensor: return {plan.etp, 1};
        case GroupKind::expert: return {plan.ep, plan.etp};
        case GroupKind::tables: return {plan.table_gpus(), 1};
        case GroupKind::sharded:
            if (!shards_gradients(plan.sharding)) {
                return {};
            }
            return shard > replicas ? GroupShape{replicas, plan.tp, shard / replicas}
                                    : GroupShape{shard, plan.tp};
        case GroupKind::between_shards:
            if (!shards_gradients(plan.sharding) || shard > replicas) {
                return {};
            }
            return {replicas / shard, plan.tp * shard, copies};
        case GroupKind::data: return {replicas, plan.tp, copies};
        case GroupKind::expert_data: break;
    }
    return {std::max(1, plan.tp * plan.cp * plan.dp / experts), experts, copies};
}

int number_of_groups(const GroupShape& shape, const ParallelPlan& plan)
{
    return plan.tp * plan.cp * plan.dp / shape.size;
}

int first_of(int index, const GroupShape& shape)
{
    return index / shape.step * shape.size * shape.step + index % shape.step;
}

int gpu_of(int number, int stage, const ParallelPlan& plan, const Placement& placement)
{
    const int width = plan.tp * plan.cp;  // of one replica in a stage
    return placement.gpu(number / width, stage) + number % width;
}

std::vector<int> members_of(GroupKind kind, int index, int stage, const ParallelPlan& plan,
                            const Placement& placement)
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

}  // namespace prismopt
