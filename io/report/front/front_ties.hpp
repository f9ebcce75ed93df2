#pragma once

/// Ties: members of a front that the draws cannot rank.

#include "io/results/results.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// Whether two members tie: in every objective they are equal, or the value of each lies in the other's
/// confidence interval. Counts, such as GPUs and bytes, have no interval and must be equal.
bool tie(const FrontPoint& a, const FrontPoint& b);

/// [position in the front]: raw tuple indices of the members that tie with it.
std::vector<std::vector<std::uint64_t>> ties(const std::vector<FrontPoint>& front);

}  // namespace prismopt
