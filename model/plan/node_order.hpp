#pragma once

/// Assignment of a cluster's nodes, whose factors are known, to the places of a job.

#include "model/plan/placement.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace prismopt {

/// Returns the number of nodes that the plan's GPUs fill.
int nodes_used(const ParallelPlan& plan, const Cluster& cluster);

/// Returns the reason why the plan cannot have its node assignment, or nothing.
std::optional<Infeasible> node_problem(const ParallelPlan& plan, const Cluster& cluster);

/// Returns the node of each place, [place in placement order]. The job has the first nodes of the cluster's
/// list, without the `spares` slowest nodes (among equal ones, the last); drawn nodes count as nominal here.
/// Not modelled: the factor of a spare that replaces a failed node. The plan must have no node_problem().
std::vector<int> nodes_in_order(const ParallelPlan& plan, const Cluster& cluster);

}  // namespace prismopt
