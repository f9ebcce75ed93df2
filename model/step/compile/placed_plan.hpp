#pragma once

/// Placement, groups and layout of a plan in one phase on one cluster, independent of costs.
/// Derived once per compiled plan.

#include "model/hardware/hardware.hpp"
#include "model/plan/coupling.hpp"
#include "model/plan/group_places.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/placement.hpp"
#include "model/plan/plan.hpp"
#include "model/schedule/schedule.hpp"

#include <map>
#include <memory>
#include <variant>
#include <vector>

namespace prismopt {

/// A plan with the shape of its schedule and the places of its GPUs. The plan belongs to the caller of the
/// compilation, and must outlive it.
struct PlacedPlan {
    const ParallelPlan& plan;
    ScheduleShape shape;
    Placement placement;
    BarrierWidths widths;
};

/// Places of a plan's groups, with the numbers of those inside layers: equal ones of
/// all plans have the same number.
struct NumberedPlaces {
    GroupPlaces groups;
    std::vector<int> numbers;  // of groups.layers
    // [kind of replica]: of the groups inside the layers of all its stages together
    std::vector<int> of_stages;
};

/// Places of the groups of plans on one cluster, remembered: plans that differ in nothing else share them.
class KnownPlaces {
public:
    /// The cluster must outlive this object.
    explicit KnownPlaces(const Cluster& cluster) : cluster_(cluster) {}
    std::shared_ptr<const NumberedPlaces> of(const ParallelPlan& plan, const Placement& placement);
    std::shared_ptr<const NumberedPlaces> numbered(GroupPlaces places);

private:
    const Cluster& cluster_;
    std::map<GroupKey, std::shared_ptr<const NumberedPlaces>> places_;
    std::map<LayerGroups, int> numbers_;
    std::map<std::vector<int>, int> of_stages_;
};

/// Returns the placed plan, which refers to `plan`, or the reason why it cannot be placed on the cluster.
std::variant<PlacedPlan, Infeasible> place_in_phase(const ParallelPlan& plan, const Phase& phase,
                                                    const Cluster& cluster);

}  // namespace prismopt
