#pragma once

/// Groups of a stage whose GPUs lie next to each other, for costs of layers that need no plan; and those
/// of a plan at the ends of a step.

#include "model/network/layer_cost.hpp"
#include "model/plan/group_places.hpp"
#include "model/plan/placement.hpp"

#include <algorithm>

namespace prismopt {

/// `shards`: sharding groups beside each other.
inline LayerGroups neighbouring_groups(const LayerShape& shape, const Cluster& cluster, int shards = 1)
{
    LayerGroups groups;
    const auto set = [&](GroupKind kind, int size, int stride) {
        if (size > 1) {
            groups.of(kind) = {group_of({size, stride}, cluster)};
        }
    };
    set(GroupKind::tensor, shape.tp, 1);
    set(GroupKind::context, shape.cp, shape.tp);
    set(GroupKind::context_heads, shape.head_gpus(), shape.tp);
    set(GroupKind::context_ring, shape.ring_gpus(), shape.tp * shape.head_gpus());
    set(GroupKind::expert_tensor, shape.etp, 1);
    set(GroupKind::expert, shape.ep, shape.etp);
    set(GroupKind::tables, shape.table_gpus(), 1);
    set(GroupKind::sharded, std::max(1, shape.shard_gpus), shape.tp);
    set(GroupKind::between_shards, shards, shape.tp * std::max(1, shape.shard_gpus));
    return groups;
}

inline LayerCosts layer_costs(const Network& network, Precision precision, const LayerShape& shape,
                              const Cluster& cluster)
{
    return layer_costs(network, precision, shape, neighbouring_groups(shape, cluster), cluster);
}

/// Groups of the first stage of a plan's first replica.
inline LayerGroups layer_groups(const ParallelPlan& plan, const Cluster& cluster)
{
    const GroupPlaces places = place_groups(plan, place(plan, cluster), cluster);
    return places.layers[places.replicas.front().layers.front()];
}

inline ExchangeGroups exchange_groups(const ParallelPlan& plan, const Cluster& cluster)
{
    return place_groups(plan, place(plan, cluster), cluster).exchange(0);
}

}  // namespace prismopt
