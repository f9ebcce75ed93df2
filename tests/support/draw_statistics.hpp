#pragma once

/// What tests ask of draws; none of it from the program's own estimators.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace prismopt {

/// The smallest of the sorted draws that a share p of them does not exceed.
inline double sorted_quantile(const std::vector<double>& ascending, double p)
{
    const double rank = std::ceil(p * static_cast<double>(ascending.size()));
    return ascending[static_cast<std::size_t>(std::clamp(rank, 1.0, static_cast<double>(ascending.size()))) -
                     1];
}

inline std::vector<double> sorted(std::vector<double> draws)
{
    std::sort(draws.begin(), draws.end());
    return draws;
}

/// Standard error of a quantile of independent draws: half the rise over a standard
/// error of probability on both sides.
inline double quantile_error(const std::vector<double>& ascending, double p)
{
    const double e = std::sqrt(p * (1.0 - p) / static_cast<double>(ascending.size()));
    return 0.5 * (sorted_quantile(ascending, p + e) - sorted_quantile(ascending, p - e));
}

/// Mean of independent values, their variance, and the standard error of the mean.
struct SampleMoments {
    explicit SampleMoments(const std::vector<double>& values)
    {
        const auto n = static_cast<double>(values.size());
        for (const double x : values) {
            mean += x / n;
        }
        for (const double x : values) {
            variance += (x - mean) * (x - mean) / (n - 1.0);
        }
        error = std::sqrt(variance / n);
    }
    double mean = 0.0;
    double variance = 0.0;
    double error = 0.0;
};

}  // namespace prismopt
