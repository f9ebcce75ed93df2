#pragma once

/// Where the process groups of a plan lie on the network. docs/methods/placement.md.

#include "model/hardware/group.hpp"
#include "model/plan/process_groups.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <vector>

namespace prismopt {

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

/// Groups of one stage at the ends of a step: of each kind the distinct ones,
/// all of which the stage waits for.
struct ExchangeGroups {
    Groups data;
    Groups sharded;
    Groups between_shards;
    Groups expert_data;
};

/// Replicas, or sets of coupled replicas, whose groups and neighbours have equivalent places.
struct ReplicaKind {
    /// Two GPUs whose message crosses the outermost tier of all messages between two stages.
    struct Link {
        int from = 0;
        int to = 0;
    };

    int sets = 1;
    std::vector<int> layers;  // [stage]: index in GroupPlaces::layers
    std::vector<Link> links;  // [stage]: to the next one
};

/// Places of all groups of a plan.
struct GroupPlaces {
    std::vector<LayerGroups> layers;    // distinct ones
    std::vector<ReplicaKind> replicas;  // at least one
    // [set of coupled replicas]: index in `replicas`; empty: all are of the first
    std::vector<int> kind_of_set;
    std::vector<ExchangeGroups> exchanges;  // [stage], or one for all
    const ExchangeGroups& exchange(int stage) const { return exchanges[exchanges.size() > 1 ? stage : 0]; }
};

/// What the places of a plan's groups depend on: all of it, as groups are kept by
/// this key. group_key() fills it.
struct GroupKey {
    std::array<int, 14> numbers{};

    auto operator<=>(const GroupKey&) const = default;
};
GroupKey group_key(const ParallelPlan& plan);

/// Returns the places of all groups of a plan that has no placement_problem() and whose
/// expert groups divide its GPUs.
GroupPlaces place_groups(const ParallelPlan& plan, const Placement& placement, const Cluster& cluster);

}  // namespace prismopt
