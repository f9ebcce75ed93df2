#pragma once

/// Which of many values are too large to be chance.

#include <cstddef>
#include <vector>

namespace prismopt {

/// Outliers among values, each known to its error: Holm's procedure (Scand. J. Statist. 6 (1979) 65-70) at 1 % on how far each lies
/// above the median, in units of the values' robust spread (median absolute deviation) and its error together.
struct Outlier {
    std::size_t index = 0;
    double probability = 0.0;
};
std::vector<Outlier> outliers(const std::vector<double>& values, const std::vector<double>& errors);

}  // namespace prismopt
