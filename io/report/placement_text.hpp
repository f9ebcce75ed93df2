#pragma once

/// Notes on where the process groups of a plan lie.

#include "io/scenario/scenario.hpp"
#include "io/trainers/trainer.hpp"

#include <string>

namespace prismopt {

/// Whether the scenario gives the order of the parallel dimensions.
enum class OrderOrigin { given, assumed };

/// The order that plans get where the scenario gives none; empty: it gives one,
/// or no plan has several stages.
std::string assumed_order_text(const Scenario& scenario);

/// The order if it is assumed, why no training program runs it, and groups that straddle units of the
/// network, with a remedy; empty: nothing to say. The plan must be feasible.
std::string placement_text(const PlannedPhase& trained, OrderOrigin origin);
inline OrderOrigin order_origin(const Scenario& scenario)
{
    return scenario.gives_order ? OrderOrigin::given : OrderOrigin::assumed;
}

}  // namespace prismopt
