#pragma once

/// A value with what is known of its error. The search and the reports see nothing else of the sampling.

#include <cstdint>
#include <limits>
#include <span>

namespace prismopt {

/// `low`, `high`: the interval that is reported (95 %). `safe_low`, `safe_high`: limits that hold for all candidates of a
/// study at once, for pruning; infinite where the draws cannot support one. Exact values have all five equal.
struct Estimate {
    double value = 0.0;
    double low = 0.0;
    double high = 0.0;
    double safe_low = 0.0;
    double safe_high = 0.0;

    static Estimate exact(double value) { return {value, value, value, value, value}; }
};

/// The same quantity in another unit; factor > 0.
constexpr Estimate operator*(double factor, const Estimate& e)
{
    return {factor * e.value, factor * e.low, factor * e.high, factor * e.safe_low, factor * e.safe_high};
}

/// Two-sided confidence levels of an Estimate.
struct Confidence {
    double reported = 0.95;
    double safe = 0.9999;  // 1 - (1 - study confidence) / candidates compared at once (Bonferroni)
};

/// Quantile of draws in clusters: `draws[c * cluster + k]` are the `cluster` draws that share one fleet.
///
/// The limits are order statistics whose ranks come from the binomial law of n / deff independent draws, where deff is
/// the measured design effect of the clusters (1 for cluster = 1, where the interval is exact and distribution-free).
/// Source: Woodruff, J. Am. Stat. Assoc. 47 (1952) 635-646. A limit that the number of draws cannot support is infinite.
Estimate quantile_estimate(std::span<const double> draws, std::size_t cluster, double probability, const Confidence& confidence);

/// Mean of clustered draws, with Student-t limits from the cluster means (needs two clusters, else infinite limits).
Estimate mean_estimate(std::span<const double> draws, std::size_t cluster, const Confidence& confidence);

}  // namespace prismopt
