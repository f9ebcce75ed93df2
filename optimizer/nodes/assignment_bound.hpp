#pragma once

/// Lower bound of the p99 step time over all assignments of known nodes.

#include "model/plan/placement.hpp"

#include <functional>
#include <span>
#include <vector>

namespace prismopt {

/// p99 step time of several assignments ([place] factors) at once.
using NodesJudge = std::function<std::vector<double>(std::span<const std::vector<float>>)>;

/// A slower node never shortens a step. At least one of the k slowest nodes is in a place other than the k -
/// 1 least harmful places (kinds of places: the stages served). The step is therefore no shorter than with
/// only that node slow and all others as fast as the fastest node. The bound is the maximum over several k.
/// It treats replicas as equivalent, which is exact up to the sampling error of a p99. `factors`: of the
/// assigned nodes. `most_judged`: limit of evaluations, at least one per kind.
double assignment_bound(const Placement& at, std::vector<float> factors, const NodesJudge& judge,
                        std::size_t most_judged);

}  // namespace prismopt
