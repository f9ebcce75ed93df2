#pragma once

/// Table rows that compare the fronts of several studies: gains over the first study, and dominated points.

#include "io/compare/compare.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Best value of each objective per study, compared with the first study. No front may be empty.
std::vector<std::vector<std::string>> best_rows(const std::vector<NamedResults>& studies);

/// All points of all fronts, sorted by the first objective, each with the studies that dominate it.
std::string fronts_text(const std::vector<NamedResults>& studies);

}  // namespace prismopt
