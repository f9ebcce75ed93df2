#pragma once

/// Notes on where the process groups of a plan lie.

#include "io/scenario/scenario.hpp"
#include "model/plan/plan.hpp"

#include <string>

namespace prismopt {

/// The order of the parallel dimensions if the scenario does not give it, and groups that straddle units of the network, with a
/// remedy; empty: nothing to say. `plan`: as in the first phase; it must have a placement on the cluster.
std::string placement_text(const ParallelPlan& plan, const Scenario& scenario, const Cluster& cluster);

}  // namespace prismopt
