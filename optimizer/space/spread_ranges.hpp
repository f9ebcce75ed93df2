#pragma once

/// Where to look in a space that is too large to look at each tuple.

#include "search/strategy.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// The whole space where it has at most `most_whole` raw tuples, otherwise short ranges spread over it, in order and apart.
std::vector<SweepRange> spread_ranges(std::uint64_t size, std::uint64_t most_whole);

}  // namespace prismopt
