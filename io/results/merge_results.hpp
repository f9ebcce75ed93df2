#pragma once

/// Merges the results of studies that each searched a part of one space.

#include "io/results/results.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

/// How to treat parts that are missing or were stopped before their end.
enum class Missing { refused, marked };

/// Merges evaluations and counts. The merged front has the members of the fronts that no other member
/// dominates by first estimates, with new flags. The outcome is proved if that of each part is and the parts
/// cover the space; its texts are empty (io/report/outcome_text.hpp makes them). Throws InputError when the
/// parts belong to different studies, overlap or (unless missing parts are allowed) are incomplete.
Results merge_results(const std::vector<Results>& one_each, Missing missing);

/// Combinations of values that were examined, or excluded together.
std::uint64_t covered_combinations(const Results& results);

}  // namespace prismopt
