#pragma once

/// A p99 that no seating of known nodes is below.

#include "model/plan/placement.hpp"

#include <functional>
#include <span>
#include <vector>

namespace prismopt {

/// p99 of the step, for several [place] factors at once.
using NodesJudge = std::function<std::vector<double>(std::span<const std::vector<float>>)>;

/// A step gets no shorter when one of its nodes is slower. So of the k slowest nodes one at least serves a kind of place (kinds: which
/// stages it serves) that the k least harmful places do not exhaust, and the step is no shorter than with that node alone slow
/// and all others as fast as the fastest; the most of this over some k. Replicas are taken as alike: right but for the sampling error of a p99.
/// `factors`: of the nodes that are seated. `most_judged`: by how many judgements it may be made, as far as one for each kind allows.
double seat_bound(const Placement& at, std::vector<float> factors, const NodesJudge& judge, std::size_t most_judged);

}  // namespace prismopt
