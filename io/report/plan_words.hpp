#pragma once

/// The plan of a front point in the words of reports.

#include "io/results/results.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace prismopt {

/// "tp 8 pp 16 dp 128 v 4 mb 1 interleaved"; further axes follow where the study varied them. --design takes it.
std::string plan_words(const Results& results, const FrontPoint& point, std::string_view except = "");

/// The axis of the kinds of hardware that knobs make.
inline constexpr std::string_view hardware_axis = "hardware";

/// What the point chose on an axis; nothing where the study has no such axis.
std::optional<std::string> axis_label(const Results& results, const FrontPoint& point, std::string_view axis);

/// The axis of a name in such words: "microbatch" of "mb", others as they are.
std::string axis_of_word(const std::string& word);

}  // namespace prismopt
