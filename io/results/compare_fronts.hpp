#pragma once

/// What the fronts of several studies gain on the first, and which of their points others beat, as rows of tables.

#include "io/results/compare.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Best of each objective by study, and how it does against the first study's. No front is empty.
std::vector<std::vector<std::string>> best_rows(const std::vector<NamedResults>& studies);

/// All points of all fronts, by the first objective, each with the studies that beat it.
std::string fronts_text(const std::vector<NamedResults>& studies);

}  // namespace prismopt
