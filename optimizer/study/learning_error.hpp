#pragma once

/// What an error of the critical batch does to the length of a run.

#include "io/scenario/scenario.hpp"

#include <cstddef>
#include <vector>

namespace prismopt {

/// Returns how much longer a run is than expected, by its tokens, [draw], if the phase of [learning] has this global batch
/// (sequences). The critical batch has values of equal probability, in an order that follows no other draw; the number of draws
/// has no factor in common with
/// 101. The scenario has [learning].
std::vector<double> longer_by_learning(const Scenario& scenario, int global_batch, std::size_t draws);

}  // namespace prismopt
