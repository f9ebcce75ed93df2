#pragma once

/// Plans that would be on a front if they fit into memory. docs/methods/memory.md.

#include "io/results/results.hpp"

#include <vector>

namespace prismopt {

/// Returns whether no objective of `a` is worse than that of `b`; objectives that only `b` has do not count.
bool is_nowhere_worse(const std::vector<Estimate>& a, const std::vector<Estimate>& b);

/// Keeps the plans of the list that no plan of the front matches, nor a plan of the list that fits with a
/// higher probability. One may be better than another that fits with a higher probability.
void sift_may_not_fit(Results& results);

}  // namespace prismopt
