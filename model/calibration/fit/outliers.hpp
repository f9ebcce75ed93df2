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
/// Returns the outliers among values with standard errors: Holm's procedure (Scand. J. Statist. 6 (1979)
/// 65-70) at 1 % on the distance of each value above the median, in units of its error and of the
/// values' own spread together: their robust spread (median absolute deviation), less the usual error.
/// That is estimated: Student's t.
std::vector<Outlier> outliers(const std::vector<double>& values, const std::vector<double>& errors);

/// Returns the outliers with the values that are more probably of their mode than of the others', until no
/// more are: two normal distributions of one spread, weighted by their numbers. Otherwise a slow one that is
/// just not an outlier would widen the others.
std::vector<Outlier> with_their_mode(const std::vector<double>& values, std::vector<Outlier> found);

}  // namespace prismopt
