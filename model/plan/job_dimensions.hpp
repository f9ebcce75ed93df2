#pragma once

/// The GPUs of a job as nested dimensions of equal steps: those of a process group, and those of its
/// neighbours of the same kind. Where they fit the units of the network, all groups of a kind lie
/// equal, and one describes them all.

#include "model/hardware/group.hpp"
#include "model/plan/process_groups.hpp"

#include <optional>
#include <vector>

namespace prismopt {

/// A dimension of the whole job: its own members, or groups beside each other.
struct JobDimension {
    Spacing dimension;
    bool member = false;
};
using JobDimensions = std::vector<JobDimension>;

/// Returns the dimensions, innermost first; nothing where the groups do not fit replicas or buildings,
/// or extend over several stages.
std::optional<JobDimensions> job_dimensions(const GroupShape& shape, const ParallelPlan& plan,
                                            const Placement& placement);

/// Returns those of a group's members.
std::vector<Spacing> members_in(const JobDimensions& dimensions);

/// Whether the units of all tiers that do not hold the whole job cut the dimensions into equal parts, so that
/// all groups have equivalent places.
bool fit_units(const JobDimensions& dimensions, const ParallelPlan& plan, const Placement& placement,
               const Cluster& cluster);

/// Returns the number of GPUs from the first to the last that the job uses.
int used_gpus(const ParallelPlan& plan, const Placement& placement);

}  // namespace prismopt
