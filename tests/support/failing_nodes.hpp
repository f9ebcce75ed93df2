#pragma once

/// Assignment of failures to nodes. docs/methods/failures.md.

#include "model/base/random.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace prismopt {

/// Returns the node of each failure of one history, for nodes with gamma-distributed failure rates of this
/// cv, so that counts by node are negative binomial (Greenwood and Yule, J. R. Stat. Soc. 83 (1920) 255-279).
/// Rates are not drawn: given the failures so far, the next failure hits a node that has failed before with
/// probability failures / (failures + nodes / cv^2), each failure counting once, else any node (the urn of
/// Blackwell and MacQueen, Ann. Stat. 1 (1973) 353-355).
inline std::vector<int> failing_nodes(int failures, int nodes, double node_cv, std::uint64_t seed,
                                      Purpose purpose, std::uint32_t history)
{
    constexpr double word_unit = 0x1p-32;
    std::vector<int> failed;
    for (int i = 0; i < failures; ++i) {
        const auto words =
            philox(seed, {history, 0, static_cast<std::uint32_t>(i), use(Stream::failing_node, purpose)});
        const double u = (words[0] + 0.5) * word_unit;
        // In units of one failure: the failures so far, then the prior weight of all nodes, nodes / cv^2.
        const double at = node_cv > 0.0 ? u * (i + nodes / (node_cv * node_cv)) : i;
        const int any = std::min(nodes - 1, static_cast<int>(words[1] * word_unit * nodes));
        failed.push_back(at < i ? failed[static_cast<std::size_t>(at)] : any);
    }
    return failed;
}

}  // namespace prismopt
