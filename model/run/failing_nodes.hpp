#pragma once

/// Assignment of failures to nodes. docs/methods/failures.md.

#include "model/base/random.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// Returns the node of each failure of one history, for nodes with gamma-distributed failure rates of this cv, so that counts by
/// node are negative binomial (Greenwood and Yule, J. R. Stat. Soc. 83 (1920) 255-279). Rates are not drawn: given the failures
/// so far, the next failure hits a node that has failed before with probability failures / (failures + nodes / cv^2), each failure
/// counting once, else any node (the urn of Blackwell and MacQueen, Ann. Stat. 1 (1973) 353-355).
std::vector<int> failing_nodes(int failures, int nodes, double node_cv, std::uint64_t seed, Purpose purpose,
                               std::uint32_t history);

}  // namespace prismopt
