#pragma once

/// Table rows that compare the fronts of several studies: gains over the first study, and dominated points.

#include "io/compare/compare.hpp"

#include <string>
#include <vector>

namespace prismopt {

/// Best value of each objective per study, compared with the first study: a row each. No front may be empty.
std::vector<std::vector<std::string>> best_rows(const std::vector<NamedResults>& studies);

/// The same as numbers, of one study; empty if its front is. Changes are those of
/// studies of one job and population.
std::vector<BestValue> best_values(const std::vector<NamedResults>& studies, std::size_t study);

/// All points of all fronts, sorted by the first objective, each with the studies that dominate it.
std::string fronts_text(const std::vector<NamedResults>& studies);

}  // namespace prismopt
