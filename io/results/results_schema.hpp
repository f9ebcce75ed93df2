#pragma once

/// What the writer and the reader of results files must agree on. The schema itself is in results/README.md.

#include "search/space.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

inline constexpr auto results_filetype = "prismopt results";

/// The column of an objective; its limits are `<column>_low`, `<column>_high`, `<column>_bound`. The prefix keeps an objective
/// apart from the axis or the prediction of the same name ("gpus", "cost").
std::string objective_column(const std::string& objective);

/// The labels as numbers when the axis is ordered and each is a different integer: then columns hold the numbers themselves.
/// Otherwise nothing: columns hold label positions with CF flag attributes.
std::optional<std::vector<std::int32_t>> numeric_labels(const Axis& axis);

}  // namespace prismopt
