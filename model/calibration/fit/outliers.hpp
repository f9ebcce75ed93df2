#pragma once

/// Detection of values that are significantly too large.

#include <cstddef>
#include <vector>

namespace prismopt {

/// An outlier and its p value.
struct Outlier {
    std::size_t index = 0;
    double probability = 0.0;
};
/// Returns the outliers among values with standard errors: Holm's procedure (Scand. J. Statist. 6 (1979) 65-70) at 1 % on the
/// distance of each value above the median, in units of the values' robust spread (median absolute deviation) and its error
/// together.
std::vector<Outlier> outliers(const std::vector<double>& values, const std::vector<double>& errors);

}  // namespace prismopt
