#pragma once

/// Names shared by the writer and the reader of results files. The schema is in results/README.md.

#include "search/space.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

inline constexpr auto results_filetype = "prismopt results";

/// Column name of an objective; its limits are `<column>_low`, `<column>_high`, `<column>_bound`. The prefix
/// distinguishes an objective from the axis or the prediction of the same name ("gpus", "cost").
std::string objective_column(const std::string& objective);

/// The labels as numbers if the axis is ordered and its labels are different integers; columns then contain
/// the numbers. Otherwise empty; columns then contain label positions with CF flag attributes.
std::optional<std::vector<std::int32_t>> numeric_labels(const Axis& axis);

}  // namespace prismopt
