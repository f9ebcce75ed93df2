#pragma once

/// Short text of the plan of a front point.

#include "io/results/results.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace prismopt {

/// "tp 8 pp 16 dp 128 v 4 mb 1 interleaved", followed by other axes that the study varied. --design accepts it.
std::string plan_words(const Results& results, const FrontPoint& point, std::string_view except = "");

/// Name of the axis of hardware variants.
inline constexpr std::string_view hardware_axis = "hardware";

/// Label of the point on an axis; empty if the study has no such axis.
std::optional<std::string> axis_label(const Results& results, const FrontPoint& point, std::string_view axis);

/// Axis of a name in such a text: "microbatch" for "mb", other names unchanged.
std::string axis_of_word(const std::string& word);

}  // namespace prismopt
