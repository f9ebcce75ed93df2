#pragma once

/// Exchange between buildings whose replicas train locally for several steps (DiLoCo, arXiv 2311.08105,
/// algorithm 1). docs/methods/collectives.md.

#include "model/hardware/hardware.hpp"
#include "model/network/operators.hpp"
#include "model/plan/group_places.hpp"
#include "model/plan/plan.hpp"

namespace prismopt {

/// Numbers of the outer optimizer, SGD with Nesterov momentum: outer parameters and momentum
/// in 32 bits, divided as the states of the inner optimizer are, and beside them, in host
/// memory where these are offloaded.
inline constexpr double outer_state_bytes = 8.0;

/// Returns the seconds from the last inner step of a round to the first of the next, for a stage with these
/// parameters: every GPU reduces its share of the differences, in 32 bits, with the GPUs at its place in the
/// other buildings, and updates it; without sharding, the GPUs of a building then gather the shares. With
/// sharding they gather parameters at the beginning of each step anyway. Nothing of it overlaps with compute,
/// as in the algorithm. `plan`: of the whole job; `inside`: the stage's groups in one building.
double outer_exchange_time(const Parameters& trained, const ParallelPlan& plan, const ExchangeGroups& inside,
                           const Cluster& cluster);

}  // namespace prismopt
