#pragma once

/// Which node it is that fails.

#include "model/base/random.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// The node of each failure of one history, where nodes have rates of their own, gamma with this cv: counts by node are negative
/// binomial (Greenwood and Yule, J. R. Stat. Soc. 83 (1920) 255-279). Rates need not be drawn: given the failures so far, the next
/// is that of a failed node again with probability failures / (failures + nodes / cv^2), each failure counting once, else of
/// any node (the urn of Blackwell and MacQueen, Ann. Stat. 1 (1973) 353-355).
std::vector<int> failing_nodes(int failures, int nodes, double node_cv, std::uint64_t seed, Purpose purpose,
                               std::uint32_t history);

}  // namespace prismopt
