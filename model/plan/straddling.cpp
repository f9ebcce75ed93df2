#include "model/plan/straddling.hpp"

#include <algorithm>
#include <limits>

namespace prismopt {

namespace {

/// The largest part of a unit that groups of consecutive GPUs divide, or that divides them.
int dividing_unit(int unit, int extent)
{
    if (extent <= unit) {
        return unit / extent * extent;
    }
    int divisor = unit;
    while (extent % divisor != 0) {
        --divisor;
    }
    return divisor;
}

/// The cluster with so many GPUs in use of each unit of a tier.
Cluster with_units(Cluster cluster, std::size_t tier, int gpus)
{
    const int unit = cluster.tiers[tier].group_gpus;
    for (std::size_t t = tier; t < cluster.tiers.size(); ++t) {
        cluster.tiers[t].group_gpus = cluster.tiers[t].group_gpus / unit * gpus;
    }
    cluster.gpus = cluster.gpus / unit * gpus;
    return cluster;
}

/// Groups of one kind and their places in one tier.
struct KindOnTier {
    std::vector<Group::OnTier> straddling;
    int sets = 0;  // with a straddling group
    int of_sets = 0;
};

KindOnTier kind_on_tier(const GroupPlaces& places, GroupKind kind, std::size_t tier)
{
    int least_units = std::numeric_limits<int>::max();
    for (const LayerGroups& groups : places.layers) {
        for (const Group& group : groups.of(kind)) {
            least_units = std::min(least_units, group.tiers[tier].units);
        }
    }
    KindOnTier result;
    for (const ReplicaKind& replica : places.replicas) {
        bool any = false;
        for (const int groups : replica.layers) {
            for (const Group& group : places.layers[groups].of(kind)) {
                if (group.tiers[tier].units > least_units || !group.even_on(tier)) {
                    any = true;
                    result.straddling.push_back(group.tiers[tier]);
                }
            }
        }
        result.sets += any ? replica.sets : 0;
        result.of_sets += replica.sets;
    }
    return result;
}

bool straddles(const ParallelPlan& plan, const Cluster& cluster, GroupKind kind, std::size_t tier)
{
    return !kind_on_tier(place_groups(plan, place(plan, cluster), cluster), kind, tier).straddling.empty();
}

/// GPUs to use of each unit of the tier so that its groups of this kind do not straddle; 0: none found.
int fitting_unit(const ParallelPlan& plan, const Cluster& cluster, GroupKind kind, std::size_t tier)
{
    if (plan.order != PlacementOrder::tp_dp_pp || cluster.building_gpus() > 0) {
        return 0;
    }
    const GroupShape shape = group_shape(kind, plan);
    const int unit = cluster.tiers[tier].group_gpus;
    const int gpus = dividing_unit(unit, shape.size * shape.step);
    const int inner = tier > 0 ? cluster.tiers[tier - 1].group_gpus : 1;
    const bool possible = gpus > 1 && gpus < unit && gpus % inner == 0 && gpus % (plan.tp * plan.cp) == 0;
    return possible && !straddles(plan, with_units(cluster, tier, gpus), kind, tier) ? gpus : 0;
}

}  // namespace

std::vector<Straddling> straddling_groups(const ParallelPlan& plan, const Cluster& cluster)
{
    const GroupPlaces places = place_groups(plan, place(plan, cluster), cluster);
    std::vector<Straddling> result;
    for (std::size_t k = 0; k < LayerGroups::kinds; ++k) {
        const auto kind = static_cast<GroupKind>(k);
        const int size = size_of(places.layers.front().of(kind));
        for (std::size_t tier = 0; size > 1 && tier < cluster.tiers.size(); ++tier) {
            const KindOnTier found = kind_on_tier(places, kind, tier);
            if (found.straddling.empty()) {
                continue;
            }
            const Group::OnTier worst =
                *std::min_element(found.straddling.begin(), found.straddling.end(), [](const auto& a, const auto& b) {
                    return a.fewest != b.fewest ? a.fewest < b.fewest : a.units > b.units;
                });
            result.push_back({.kind = kind,
                              .tier = tier,
                              .size = size,
                              .unit = gpus_joined(cluster.tiers[tier], cluster),
                              .sets = found.sets,
                              .of_sets = found.of_sets,
                              .worst = worst,
                              .fitting_unit = fitting_unit(plan, cluster, kind, tier)});
            break;
        }
    }
    return result;
}

}  // namespace prismopt
