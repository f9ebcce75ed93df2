#pragma once

/// Group sizes that a study chooses, and how they nest.

#include "io/scenario/scenario.hpp"
#include "io/toml/toml.hpp"

namespace prismopt {

/// Refuses a value of a [[knob]] or an option of a [[bundle]] with which the groups of tiers never nest,
/// whatever the other choices are: names the two tiers, and what would nest.
void refuse_unnested_values(const Scenario& scenario, Table& top);

}  // namespace prismopt
