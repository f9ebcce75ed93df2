#pragma once

/// Results of a plan for people, in the style of their rows in io/results/plan_results.hpp.

#include "io/results/plan_results.hpp"

#include <string>
#include <string_view>

namespace prismopt {

/// A number by its name, with its unit: "41.3 %", "14.95 ms", "312 TFLOP/s"; a time
/// that is not finite is "never".
std::string number_text(const PlanResults& results, std::string_view name);
/// The same without the unit.
std::string number_figure(const PlanResults& results, std::string_view name);

/// The value of an estimate by its name, with its unit.
std::string estimate_text(const PlanResults& results, std::string_view name);

}  // namespace prismopt
