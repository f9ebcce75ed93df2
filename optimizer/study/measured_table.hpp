#pragma once

/// Tables of plans of a study that were run, as users write them.

#include "optimizer/study/measured_plan.hpp"
#include "optimizer/study/stored_study.hpp"

#include <string>
#include <vector>

namespace prismopt {

inline constexpr const char* measured_columns_text =
    "point or plan; step_time_s (a number, or several separated by blanks) or log (the file of a trainer); "
    "peak_memory_gb (a "
    "number, or oom)";

/// Returns the rows of a CSV file in the order of their numbers, so that results do not depend on the order
/// of the rows. Throws InputError.
std::vector<MeasuredPlan> read_measured(const std::string& path, const StoredStudy& study,
                                        const Results& results);

}  // namespace prismopt
