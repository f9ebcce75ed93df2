#pragma once

/// Joins the results of studies that each searched a part of one space.

#include "io/results.hpp"

#include <vector>

namespace prismopt {

/// The whole of the parts: evaluations and counts together, of their fronts what no other part's first estimates dominate, flagged
/// anew. It says "proved complete" where each part does and together they cover the space. Throws InputError when they are not parts
/// of one study, or overlap.
Results merge_results(const std::vector<Results>& parts);

}  // namespace prismopt
