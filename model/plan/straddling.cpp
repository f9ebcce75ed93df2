#include "model/plan/straddling.hpp"

#include <algorithm>
#include <limits>

namespace prismopt {

namespace {

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

/// Whether no group of any kind straddles units of a tier.
bool none_straddles(const ParallelPlan& plan, const Cluster& cluster)
{
    const GroupPlaces places = place_groups(plan, place(plan, cluster), cluster);
    for (std::size_t kind = 0; kind < LayerGroups::kinds; ++kind) {
        for (std::size_t tier = 0; tier < cluster.tiers.size(); ++tier) {
            if (!kind_on_tier(places, static_cast<GroupKind>(kind), tier).straddling.empty()) {
                return false;
            }
        }
    }
    return true;
}

/// The most GPUs to use of each unit of the tier so that no groups straddle; 0: none.
int fitting_unit(const ParallelPlan& plan, const Cluster& cluster, std::size_t tier)
{
    const int inner = tier > 0 ? cluster.tiers[tier - 1].group_gpus : plan.tp * plan.cp;
    const int unit = cluster.tiers[tier].group_gpus;
    if (cluster.building_gpus() > 0 || cluster.tiers[tier].topology == Topology::torus) {
        return 0;
    }
    for (int gpus = (unit - 1) / inner * inner; gpus > 1; gpus -= inner) {
        if (gpus % (plan.tp * plan.cp) == 0 && none_straddles(plan, with_units(cluster, tier, gpus))) {
            return gpus;
        }
    }
    return 0;
}

/// Whether the groups of a kind are those of an earlier one, such as rings of
/// keys without an exchange of heads.
bool same_as_earlier(std::size_t kind, const ParallelPlan& plan)
{
    const GroupShape own = group_shape(static_cast<GroupKind>(kind), plan);
    for (std::size_t earlier = 0; earlier < kind; ++earlier) {
        const GroupShape other = group_shape(static_cast<GroupKind>(earlier), plan);
        if (other.size == own.size && other.step == own.step && other.copies == own.copies) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::vector<Straddling> straddling_groups(const ParallelPlan& plan, const Cluster& cluster)
{
    const GroupPlaces places = place_groups(plan, place(plan, cluster), cluster);
    std::vector<Straddling> result;
    for (std::size_t k = 0; k < LayerGroups::kinds; ++k) {
        const auto kind = static_cast<GroupKind>(k);
        const int size = size_of(places.layers.front().of(kind));
        for (std::size_t tier = 0; size > 1 && !same_as_earlier(k, plan) && tier < cluster.tiers.size();
             ++tier) {
            const KindOnTier found = kind_on_tier(places, kind, tier);
            if (found.straddling.empty()) {
                continue;
            }
            const Group::OnTier worst = *std::min_element(
                found.straddling.begin(), found.straddling.end(), [](const auto& a, const auto& b) {
                    return a.fewest != b.fewest ? a.fewest < b.fewest : a.units > b.units;
                });
            const int unit = gpus_joined(cluster.tiers[tier], cluster);
            const int fitting = fitting_unit(plan, cluster, tier);
            result.push_back({.kind = kind,
                              .tier = tier,
                              .size = size,
                              .unit = unit,
                              .sets = found.sets,
                              .of_sets = found.of_sets,
                              .worst = worst,
                              .fitting_unit = fitting,
                              .fitting_gpus = cluster.gpus / unit * fitting});
            break;
        }
    }
    return result;
}

}  // namespace prismopt
