#pragma once

/// Process groups that straddle units of the network, and units that avoid it. docs/methods/placement.md.

#include "model/plan/group_places.hpp"

#include <cstddef>
#include <vector>

namespace prismopt {

/// Groups of one kind that do not have equivalent places in the units of a tier: some are in more
/// units than others, or unevenly.
struct Straddling {
    GroupKind kind = GroupKind::tensor;
    std::size_t tier = 0;
    int size = 1;     // members
    int unit = 1;     // GPUs of a unit
    int sets = 0;     // sets of coupled replicas with such groups,
    int of_sets = 0;  // of so many
    Group::OnTier worst{};
    // GPUs to use of a unit, so that no groups of any kind straddle; 0: no number does it alone
    int fitting_unit = 0;
    int fitting_gpus = 0;  // of the cluster then; the job may have more
};
/// Returns the innermost tier of each kind of groups inside layers that straddles units. The
/// plan has no placement_problem().
std::vector<Straddling> straddling_groups(const ParallelPlan& plan, const Cluster& cluster);

}  // namespace prismopt
