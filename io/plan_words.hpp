#pragma once

/// The plan of a front point in the words of reports.

#include "io/results.hpp"

#include <string>

namespace prismopt {

/// "tp 8 pp 16 dp 128 v 4 mb 1 interleaved"; further axes follow where the study varied them.
std::string plan_words(const Results& results, const FrontPoint& point);

}  // namespace prismopt
