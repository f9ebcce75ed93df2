#pragma once

/// Joins the results of studies that each searched a part of one space.

#include "io/results/results.hpp"

#include <vector>

namespace prismopt {

/// Parts that are not there, or were stopped before their end.
enum class Missing { refused, marked };

/// The whole of the parts: evaluations and counts together, of their fronts what no other part's first estimates dominate, flagged
/// anew. It says "proved complete" where each part does and together they cover the space. Throws InputError when they are not parts
/// of one study, or overlap, or (unless they are to be marked) are not all.
Results merge_results(const std::vector<Results>& parts, Missing missing);

}  // namespace prismopt
