#pragma once

/// Lower bound of the p99 step time over all assignments of known nodes.

#include "model/plan/placement.hpp"

#include <functional>
#include <span>
#include <vector>

namespace prismopt {

/// p99 step time of several assignments ([place] factors) at once.
using NodesJudge = std::function<std::vector<double>(std::span<const std::vector<float>>)>;

/// A step gets no shorter when one of its nodes is slower. So at least one of the k slowest nodes serves a kind of place (kinds:
/// the stages served) other than the k - 1 least harmful places, and the step is no shorter than with that node alone slow and
/// all others as fast as the fastest node. The bound is the maximum over several k. It treats replicas as alike, which is exact
/// up to the sampling error of a p99. `factors`: of the assigned nodes. `most_judged`: limit of evaluations, at least one per
/// kind.
double assignment_bound(const Placement& at, std::vector<float> factors, const NodesJudge& judge, std::size_t most_judged);

}  // namespace prismopt
