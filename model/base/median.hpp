#pragma once

#include <vector>

namespace prismopt {

/// Returns the median: of an even number of values, the mean of the middle two. There is at least one value.
double median_of(std::vector<double> values);

}  // namespace prismopt
