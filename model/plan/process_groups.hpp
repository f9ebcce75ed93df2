#pragma once

/// Process groups of a plan and their members. docs/methods/placement.md.
///
/// One rule for all of them. The GPUs of a stage are numbered from 0 to tp*cp*dp - 1: tensor-parallel
/// rank, context-parallel rank, replica. A group has members at equal steps in these numbers; groups of
/// one kind occupy consecutive blocks:
///
///     group             step        members
///     tensor            1           tp
///     context           tp          cp
///     context_heads     tp          ulysses
///     context_ring      tp*ulysses  cp / ulysses
///     expert_tensor     1           etp
///     expert            etp         ep
///     tables            1           table_shards, or ep*etp
///     sharded           tp          GPUs that share out a layer's parameters (all of cp*dp, or shard_gpus)
///     between_shards    tp*shard    cp*dp / shard
///     data              tp          cp*dp
///     expert_data       ep*etp      tp*cp*dp / (ep*etp)
///
/// This is how Megatron-Core numbers them (megatron/core/parallel_state.py, RankGenerator: experts are
/// numbered on the same GPUs without context parallelism) and how torch.distributed.device_mesh does
/// (row-major). The placement says where the GPUs of a stage are: with order tp-dp-pp next to each other,
/// with tp-pp-dp those of a replica pp*tp*cp after those of the one before.

#include "model/hardware/kernel_class.hpp"
#include "model/plan/placement.hpp"
#include "model/plan/plan.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace prismopt {

enum class GroupKind {
    tensor,
    context,
    context_heads,
    context_ring,
    expert_tensor,
    expert,
    tables,
    sharded,
    between_shards,
    data,
    expert_data
};

struct GroupKindRow {
    GroupKind kind;
    std::string_view name;
    ProcessGroup of;  // of its collectives
};
inline constexpr auto group_kind_rows = std::to_array<GroupKindRow>({
    {GroupKind::tensor, "tensor-parallel", ProcessGroup::tensor},
    {GroupKind::context, "context-parallel", ProcessGroup::context},
    {GroupKind::context_heads, "head-exchange", ProcessGroup::context},
    {GroupKind::context_ring, "key-exchange", ProcessGroup::context},
    {GroupKind::expert_tensor, "expert-tensor-parallel", ProcessGroup::expert},
    {GroupKind::expert, "expert-parallel", ProcessGroup::expert},
    {GroupKind::tables, "embedding-table", ProcessGroup::expert},
    {GroupKind::sharded, "sharding", ProcessGroup::sharded},
    {GroupKind::between_shards, "shard-replica", ProcessGroup::sharded},
    {GroupKind::data, "data-parallel", ProcessGroup::data},
    {GroupKind::expert_data, "expert-data-parallel", ProcessGroup::data},
});
constexpr const GroupKindRow& row_of(GroupKind kind)
{
    return group_kind_rows[static_cast<std::size_t>(kind)];
}

/// Groups of one kind per stage.
struct GroupShape {
    int size = 1;
    int step = 1;    // between members, in numbers of a stage's GPUs
    int copies = 1;  // stages over which the group extends: those with the same layers
};
GroupShape group_shape(GroupKind kind, const ParallelPlan& plan);

/// Groups of a kind that have members in one stage.
int number_of_groups(const GroupShape& shape, const ParallelPlan& plan);
/// Number of the `index`-th group's first member among the GPUs of its stage.
int first_of(int index, const GroupShape& shape);
/// GPU of the job with this number among those of the stage.
int gpu_of(int number, int stage, const ParallelPlan& plan, const Placement& placement);

/// Returns the GPUs of the `index`-th group of a kind that has members in the stage, in ascending order.
std::vector<int> members_of(GroupKind kind, int index, int stage, const ParallelPlan& plan,
                            const Placement& placement);

}  // namespace prismopt
