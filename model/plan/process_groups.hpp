#pragma once

/// Process groups of a plan, and where they lie on the network. docs/methods/placement.md.
///
/// One rule for all of them. The GPUs of a stage are numbered from 0 to tp*cp*dp - 1: tensor-parallel rank, context-parallel rank,
/// replica. A group has members at equal steps in these numbers, in blocks that follow each other:
///
///     group             step        members
///     tensor            1           tp
///     context           tp          cp
///     expert_tensor     1           etp
///     expert            etp         ep
///     tables            1           ep*etp
///     sharded           tp          GPUs that share out a layer's parameters (all of cp*dp, or shard_gpus)
///     between_shards    tp*shard    cp*dp / shard
///     data              tp          cp*dp
///     expert_data       ep*etp      tp*cp*dp / (ep*etp)
///
/// This is how Megatron-Core numbers them (megatron/core/parallel_state.py, RankGenerator: experts are numbered on the same GPUs
/// without context parallelism) and how torch.distributed.device_mesh does (row-major). The placement says where the GPUs of a
/// stage are: with order tp-dp-pp next to each other, with tp-pp-dp those of a replica pp*tp*cp after those of the one before.

#include "model/hardware/group.hpp"
#include "model/hardware/kernel_class.hpp"
#include "model/plan/placement.hpp"
#include "model/plan/plan.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <string_view>
#include <vector>

namespace prismopt {

enum class GroupKind { tensor, context, expert_tensor, expert, tables, sharded, between_shards, data, expert_data };

struct GroupKindRow {
    GroupKind kind;
    std::string_view name;
    ProcessGroup of;  // of its collectives
};
inline constexpr auto group_kind_rows = std::to_array<GroupKindRow>({
    {GroupKind::tensor, "tensor-parallel", ProcessGroup::tensor},
    {GroupKind::context, "context-parallel", ProcessGroup::context},
    {GroupKind::expert_tensor, "expert-tensor-parallel", ProcessGroup::expert},
    {GroupKind::expert, "expert-parallel", ProcessGroup::expert},
    {GroupKind::tables, "embedding-table", ProcessGroup::expert},
    {GroupKind::sharded, "sharding", ProcessGroup::sharded},
    {GroupKind::between_shards, "shard-replica", ProcessGroup::sharded},
    {GroupKind::data, "data-parallel", ProcessGroup::data},
    {GroupKind::expert_data, "expert-data-parallel", ProcessGroup::data},
});
constexpr const GroupKindRow& row_of(GroupKind kind) { return group_kind_rows[static_cast<std::size_t>(kind)]; }

/// Groups of one kind per stage.
struct GroupShape {
    int size = 1;
    int step = 1;    // between members, in numbers of a stage's GPUs
    int copies = 1;  // stages over which the group extends: those with the same layers
};
GroupShape group_shape(GroupKind kind, const ParallelPlan& plan);

/// Returns the GPUs of the `index`-th group of a kind that has members in the stage, in ascending order.
std::vector<int> members_of(GroupKind kind, int index, int stage, const ParallelPlan& plan, const Placement& placement);

/// Groups of one stage of a replica, or of coupled replicas, inside layers: of each kind the distinct ones.
class LayerGroups {
public:
    static constexpr std::size_t kinds = static_cast<std::size_t>(GroupKind::between_shards) + 1;

    const Groups& of(GroupKind kind) const { return groups_[static_cast<std::size_t>(kind)]; }
    Groups& of(GroupKind kind) { return groups_[static_cast<std::size_t>(kind)]; }

    auto operator<=>(const LayerGroups&) const = default;

private:
    std::array<Groups, kinds> groups_{};
};

/// Groups of one stage at the ends of a step: of each kind the distinct ones, all of which the stage waits for.
struct ExchangeGroups {
    Groups data;
    Groups sharded;
    Groups between_shards;
    Groups expert_data;
};

/// Replicas, or sets of coupled replicas, whose groups and neighbours lie alike.
struct ReplicaKind {
    int sets = 1;
    std::vector<int> layers;  // [stage]: index in GroupPlaces::layers
    std::vector<int> link;    // [stage]: a replica whose message from this stage to the next one crosses the outermost tier
};

/// Places of all groups of a plan.
struct GroupPlaces {
    std::vector<LayerGroups> layers;        // distinct ones
    std::vector<ReplicaKind> replicas;      // at least one
    std::vector<int> kind_of_set;           // [set of coupled replicas]: index in `replicas`; empty: all are of the first
    std::vector<ExchangeGroups> exchanges;  // [stage], or one for all
    const ExchangeGroups& exchange(int stage) const { return exchanges[exchanges.size() > 1 ? stage : 0]; }
};

/// What the places of a plan's groups depend on.
struct GroupKey {
    std::array<int, 12> numbers{};

    auto operator<=>(const GroupKey&) const = default;
};
GroupKey group_key(const ParallelPlan& plan);

/// Returns the places of all groups of a plan that has no placement_problem() and whose expert groups divide its GPUs.
GroupPlaces place_groups(const ParallelPlan& plan, const Placement& placement, const Cluster& cluster);

/// Groups of one kind that do not lie alike in the units of a tier: some are in more units than others, or unevenly.
struct Straddling {
    GroupKind kind = GroupKind::tensor;
    std::size_t tier = 0;
    int size = 1;     // members
    int unit = 1;     // GPUs of a unit
    int sets = 0;     // sets of coupled replicas with such groups,
    int of_sets = 0;  // of so many
    Group::OnTier worst{};
    int fitting_unit = 0;  // GPUs to use of a unit, so that none straddle; 0: no number does it alone
};
/// Returns the innermost tier of each kind of groups inside layers that straddles units. The plan has no placement_problem().
std::vector<Straddling> straddling_groups(const ParallelPlan& plan, const Cluster& cluster);

}  // namespace prismopt
