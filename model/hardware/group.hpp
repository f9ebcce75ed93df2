#pragma once

/// Process groups as they lie on the tiers of a network. docs/methods/placement.md.

#include "model/hardware/hardware.hpp"

#include <compare>
#include <span>
#include <vector>

namespace prismopt {

/// `count` GPUs, or sets of GPUs, `stride` apart.
struct Spacing {
    int count = 1;
    int stride = 1;

    auto operator<=>(const Spacing&) const = default;
};

/// Members of a process group by tier. The GPUs between the members belong to groups of the same kind that
/// run at the same time and share the links.
struct Group {
    struct OnTier {
        int fewest = 1;  // members in the unit that holds the fewest of them
        int units = 1;   // units that hold some

        auto operator<=>(const OnTier&) const = default;
    };

    int size = 1;
    std::vector<OnTier> tiers{};      // [tier of the cluster]; empty: one member
    std::vector<Spacing> in_torus{};  // of the members inside one torus; empty: the cluster has none

    /// Whether all units of a tier that hold members hold equally many.
    bool even_on(std::size_t tier) const { return tiers[tier].fewest * tiers[tier].units == size; }
    bool even() const;

    auto operator<=>(const Group&) const = default;
};

/// Returns the group of the GPUs first + sum of i_d * stride_d, 0 <= i_d < count_d. `dimensions`: innermost
/// first; a stride is at least the extent of the dimensions before it.
Group group_of(std::span<const Spacing> dimensions, int first, const Cluster& cluster);
/// The same for one dimension from the first GPU of the cluster on.
Group group_of(const Spacing& dimension, const Cluster& cluster);
/// Returns the group of GPUs, which must ascend.
Group group_of_members(std::span<const int> gpus, const Cluster& cluster);

/// Two levels of a group: a part of neighbours, and one member of each part.
struct GroupLevels {
    Group local;
    Group across;
};
/// Splits an even group into parts of `inside` neighbours each. `inside` divides the members of each
/// unit, or is a multiple of them.
GroupLevels split(const Group& group, int inside);

/// Returns the innermost tier that holds all of a group.
std::size_t tier_around(const Group& group);

/// Distinct groups that wait for each other: the slowest of them sets the pace. None: groups of one member.
using Groups = std::vector<Group>;
/// Whether one of them has members in several nodes.
bool leave_nodes(const Groups& groups, const Cluster& cluster);
inline int size_of(const Groups& groups) { return groups.empty() ? 1 : groups.front().size; }

/// Number of GPUs in a unit of the tier.
int gpus_joined(const NetworkTier& tier, const Cluster& cluster);

}  // namespace prismopt
