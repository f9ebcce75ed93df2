#include "model/hardware/group.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>

namespace prismopt {

namespace {

using OnTier = Group::OnTier;

int member_count(std::span<const Spacing> dimensions)
{
    int size = 1;
    for (const Spacing& dimension : dimensions) {
        size *= dimension.count;
    }
    return size;
}

/// GPUs from the first to the last member.
int extent_of(std::span<const Spacing> dimensions)
{
    int extent = 1;
    for (const Spacing& dimension : dimensions) {
        extent += (dimension.count - 1) * dimension.stride;
    }
    return extent;
}

/// Members per unit where each unit has as many; nothing where the dimensions do not fit units.
std::optional<OnTier> on_fitting_tier(std::span<const Spacing> dimensions, int first, int unit, int size)
{
    const auto outer = std::find_if(dimensions.begin(), dimensions.end(),
                                    [unit](const Spacing& d) { return d.stride >= unit; });
    if (!std::all_of(outer, dimensions.end(), [unit](const Spacing& d) { return d.stride % unit == 0; })) {
        return std::nullopt;
    }
    const auto inside = dimensions.first(static_cast<std::size_t>(outer - dimensions.begin()));
    if (first % unit + extent_of(inside) <= unit) {
        const int members = member_count(inside);
        return OnTier{members, size / members};
    }
    // The last dimension inside crosses units: in whole ones, if it divides them into
    // cells for the dimensions before.
    const Spacing& crossing = inside.back();
    const auto before = inside.first(inside.size() - 1);
    const int cells = unit / crossing.stride;
    const bool in_cells =
        unit % crossing.stride == 0 && first % crossing.stride + extent_of(before) <= crossing.stride;
    const bool in_units = first % unit / crossing.stride == 0 && crossing.count % cells == 0;
    if (!in_cells || !in_units) {
        return std::nullopt;
    }
    const int members = member_count(before) * cells;
    return OnTier{members, size / members};
}

template <class NextGpu>
OnTier counted(int size, int unit, NextGpu&& gpu)
{
    OnTier result{std::numeric_limits<int>::max(), 0};
    int current = -1;
    int members = 0;
    for (int i = 0; i < size; ++i) {
        const int of = gpu(i) / unit;
        if (of != current && members > 0) {
            result.fewest = std::min(result.fewest, members);
            members = 0;
        }
        result.units += of != current ? 1 : 0;
        current = of;
        ++members;
    }
    result.fewest = std::min(result.fewest, members);
    return result;
}

/// The same for evenly spaced members, unit by unit.
OnTier counted(const Spacing& spacing, int first, int unit)
{
    OnTier result{std::numeric_limits<int>::max(), 0};
    int left = spacing.count;
    int gpu = first;
    while (left > 0) {
        const int end = (gpu / unit + 1) * unit;
        const int members = std::min(left, (end - 1 - gpu) / spacing.stride + 1);
        result.fewest = std::min(result.fewest, members);
        ++result.units;
        left -= members;
        gpu += members * spacing.stride;
    }
    return result;
}

/// Dimensions that continue each other as one, and none of a single member.
std::vector<Spacing> joined(std::span<const Spacing> dimensions)
{
    std::vector<Spacing> result;
    for (const Spacing& dimension : dimensions) {
        if (!result.empty() && dimension.stride == result.back().stride * result.back().count) {
            result.back().count *= dimension.count;
        } else if (dimension.count > 1) {
            result.push_back(dimension);
        }
    }
    return result;
}

int member(std::span<const Spacing> dimensions, int index)
{
    int offset = 0;
    for (const Spacing& dimension : dimensions) {
        offset += index % dimension.count * dimension.stride;
        index /= dimension.count;
    }
    return offset;
}

/// The innermost dimensions, `count` members in all.
std::vector<Spacing> inner_dimensions(std::span<const Spacing> dimensions, int count)
{
    std::vector<Spacing> inner;
    for (const Spacing& dimension : dimensions) {
        const int own = std::min(dimension.count, count);
        if (own > 1) {
            inner.push_back({own, dimension.stride});
        }
        count /= own;
    }
    return inner;
}

const NetworkTier* torus_of(const Cluster& cluster)
{
    const auto found = std::find_if(cluster.tiers.begin(), cluster.tiers.end(),
                                    [](const NetworkTier& tier) { return tier.topology == Topology::torus; });
    return found == cluster.tiers.end() ? nullptr : &*found;
}

}  // namespace

int gpus_joined(const NetworkTier& tier, const Cluster& cluster)
{
    return std::min(tier.group_gpus, cluster.gpus);
}

bool leave_nodes(const Groups& groups, const Cluster& cluster)
{
    const std::size_t node = cluster.node_tier();
    return std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
        return group.tiers[node].units > 1 || (group.size > 1 && cluster.joins_nodes(node));
    });
}

bool Group::even() const
{
    for (std::size_t tier = 0; tier < tiers.size(); ++tier) {
        if (!even_on(tier)) {
            return false;
        }
    }
    return true;
}

Group group_of(std::span<const Spacing> dimensions, int first, const Cluster& cluster)
{
    Group group;
    group.size = member_count(dimensions);
    if (group.size <= 1) {
        return {};
    }
    const std::vector<Spacing> several = joined(dimensions);
    const auto on_tier = [&](int unit) {
        if (const auto fitting = on_fitting_tier(several, first, unit, group.size)) {
            return *fitting;
        }
        return several.size() == 1
                   ? counted(several.front(), first, unit)
                   : counted(group.size, unit, [&](int i) { return first + member(several, i); });
    };
    for (const NetworkTier& tier : cluster.tiers) {
        group.tiers.push_back(on_tier(gpus_joined(tier, cluster)));
    }
    // The last tier joins the cluster, whatever the number of its GPUs.
    group.tiers.back() = {group.size, 1};
    if (const NetworkTier* torus = torus_of(cluster)) {
        group.in_torus = inner_dimensions(several, group.tiers[torus - cluster.tiers.data()].fewest);
    }
    return group;
}

Group group_of(const Spacing& dimension, const Cluster& cluster)
{
    return group_of(std::span(&dimension, 1), 0, cluster);
}

Group group_of_members(std::span<const int> gpus, const Cluster& cluster)
{
    Group group;
    group.size = static_cast<int>(gpus.size());
    if (group.size <= 1) {
        return {};
    }
    for (const NetworkTier& tier : cluster.tiers) {
        group.tiers.push_back(
            counted(group.size, gpus_joined(tier, cluster), [&](int i) { return gpus[i]; }));
    }
    group.tiers.back() = {group.size, 1};
    if (const NetworkTier* torus = torus_of(cluster)) {
        group.in_torus.push_back({group.tiers[torus - cluster.tiers.data()].fewest, gpus[1] - gpus[0]});
    }
    return group;
}

GroupLevels split(const Group& group, int inside)
{
    GroupLevels levels;
    levels.local.size = inside;
    levels.across.size = group.size / inside;
    for (const OnTier& tier : group.tiers) {
        const int own = std::min(tier.fewest, inside);
        const int units_across = std::max(1, tier.fewest / inside);
        levels.local.tiers.push_back({own, inside / own});
        levels.across.tiers.push_back({units_across, levels.across.size / units_across});
    }
    levels.local.in_torus = inner_dimensions(group.in_torus, inside);
    return levels;
}

std::size_t tier_around(const Group& group)
{
    std::size_t tier = 0;
    while (tier + 1 < group.tiers.size() && group.tiers[tier].units > 1) {
        ++tier;
    }
    return tier;
}

}  // namespace prismopt
