#pragma once

/// Sample of a space that is too large to check every tuple.

#include "search/strategy.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// The whole space if it has at most `most_whole` raw tuples, or few enough for a sample (two million);
/// otherwise short, disjoint ranges spread over it, in ascending order.
std::vector<SweepRange> spread_ranges(std::uint64_t size, std::uint64_t most_whole);

/// Combinations of the largest space that is examined whole, which takes some ten seconds.
inline constexpr std::uint64_t most_examined_whole = 100'000'000;

}  // namespace prismopt
