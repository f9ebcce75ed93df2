#pragma once

/// Which of a cluster's nodes, whose factors are known, serve which place of a job.

#include "model/plan/placement.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace prismopt {

/// Nodes that the plan's GPUs fill.
int nodes_used(const ParallelPlan& plan, const Cluster& cluster);

/// Why the plan cannot have the nodes that it asks for.
std::optional<Infeasible> node_problem(const ParallelPlan& plan, const Cluster& cluster);

/// [place in the order of placement]: its node. The job has the first nodes of the cluster's list, after `spares` of the slowest
/// (of equal ones the last) were left to stand by; drawn nodes count as nominal in this. What a spare slows when it replaces a failed node is left out. The plan must have no node_problem().
std::vector<int> nodes_in_order(const ParallelPlan& plan, const Cluster& cluster);

}  // namespace prismopt
