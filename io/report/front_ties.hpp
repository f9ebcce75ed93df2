#pragma once

/// Members of a front between which the draws do not decide.

#include "io/results/results.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// Whether two members tie: in everything that is minimised they are equal, or the value of each lies in the other's confidence interval.
/// What is counted, such as GPUs and bytes, has no interval: there they are equal.
bool tie(const FrontPoint& a, const FrontPoint& b);

/// [place in the front]: raw tuples of the other members that tie with it.
std::vector<std::vector<std::uint64_t>> ties(const std::vector<FrontPoint>& front);

}  // namespace prismopt
