#pragma once

/// What errors of the critical batch and of loss gaps do to the length of a run.

#include "io/scenario/scenario.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

/// Whether the scenario states tokens with an error.
bool varies_by_learning(const Scenario& scenario);

/// Returns how much longer a run is than expected, by its tokens, [draw], of the variant with these values.
/// The critical batch has values of equal probability, and so has the place of each loss gap in its interval,
/// in orders that follow no other draw; the number of draws has no factor in common with 101 and 211. All
/// precisions have the same place: they are wrong together.
std::vector<double> longer_by_learning(const Scenario& scenario, std::span<const ChoiceValue> values,
                                       std::size_t draws);

}  // namespace prismopt
