#pragma once

/// A value with what is known of its error. The search and the reports see nothing else of the sampling.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

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

/// Which draws belong together: `draws[c * size + k]` are the `size` draws that share one fleet. Fleets of one block of
/// `block` draws share out strata among them (a randomised design), blocks are independent; 0: no such blocks.
struct Clusters {
    std::size_t size = 1;
    std::size_t block = 0;
};
/// Blocks from which the error of stratified draws may be read: independent randomisations.
inline constexpr std::size_t least_blocks = 16;

/// Quantile of clustered draws.
///
/// The limits are order statistics whose ranks come from the binomial law of n / deff independent draws, where deff is
/// the measured design effect of the clusters (1 for size = 1, where the interval is exact and distribution-free).
/// Source: Woodruff, J. Am. Stat. Assoc. 47 (1952) 635-646. A limit that the number of draws cannot support is infinite.
/// With 16 blocks and more the reported limits take the design effect of the blocks, times (t / z)^2 for what so few
/// randomisations can say of it, so they show what strata gain; the safe limits never count on that.
Estimate quantile_estimate(std::span<const double> draws, const Clusters& clusters, double probability,
                           const Confidence& confidence);

/// Mean of clustered draws, with Student-t limits from the cluster means (needs two clusters, else infinite limits); the
/// reported limits from the means of the blocks where there are 16 and more.
Estimate mean_estimate(std::span<const double> draws, const Clusters& clusters, const Confidence& confidence);

/// Clusters from which Student's t limits of a mean miss it at most twice as often as they say, where one cluster's mean is no more
/// skewed than this: the tail of a self-normalised sum is that of the normal law times e^(-skewness x^3 / (3 sqrt n)) at x
/// deviations. Source: Jing, Shao, Wang, Ann. Probab. 31 (2003) 2167-2215. `level`: two-sided.
double clusters_for_mean_limits(double skewness, double level);

/// Standard error of the mean of clustered draws: from blocks where there are 16 and more, else from the clusters; infinite with one.
double mean_error(std::span<const double> draws, const Clusters& clusters);

/// A point of a law's quantile function.
struct LawNode {
    double below = 0.0;  // probability
    double value = 0.0;
};

/// Quantile of C T for draws of T and an independent factor C that scales all of T, given by nodes from probability 0 to 1, between
/// which its quantile function is a straight line: F(t) = mean over draws of F_C(t / T), so C is integrated and adds no noise. Limits as Woodruff's, from the
/// variance of F between blocks, or between fleets where there are fewer than 16 blocks; infinite with fewer than 16 of those.
Estimate scaled_quantile_estimate(std::span<const double> draws, const Clusters& clusters, std::span<const LawNode> factor,
                                  double probability, const Confidence& confidence);

/// Quantiles of C T as above; of T where there is no factor.
std::vector<double> quantiles(std::span<const double> draws, std::span<const LawNode> factor,
                              std::span<const double> probabilities);

}  // namespace prismopt
