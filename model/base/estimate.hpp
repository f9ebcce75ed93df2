#pragma once

/// Estimates with confidence intervals, the interface of the sampling to searches and
/// reports. docs/methods/intervals.md.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace prismopt {

/// Estimate with two confidence intervals. `low`, `high`: the reported interval (95 %). `simultaneous_low`,
/// `simultaneous_high`: simultaneous confidence limits for all candidates of a study, used to exclude
/// candidates; infinite if the draws cannot support one. Exact values have all five equal.
struct Estimate {
    double value = 0.0;
    double low = 0.0;
    double high = 0.0;
    double simultaneous_low = 0.0;
    double simultaneous_high = 0.0;

    static Estimate exact(double value) { return {value, value, value, value, value}; }
};

/// Converts an estimate to another unit or price; factor >= 0. Zero of anything is exactly zero,
/// also where a limit is infinite.
constexpr Estimate operator*(double factor, const Estimate& e)
{
    if (factor == 0.0) {
        return Estimate::exact(0.0);
    }
    return {factor * e.value, factor * e.low, factor * e.high, factor * e.simultaneous_low,
            factor * e.simultaneous_high};
}

/// Sum of two figures of the same draws that grow together: their limits add.
constexpr Estimate operator+(const Estimate& a, const Estimate& b)
{
    return {a.value + b.value, a.low + b.low, a.high + b.high, a.simultaneous_low + b.simultaneous_low,
            a.simultaneous_high + b.simultaneous_high};
}

/// Two-sided confidence levels of an Estimate.
struct Confidence {
    double reported = 0.95;
    double simultaneous = 0.9999;  // 1 - (1 - study confidence) / candidates compared at once (Bonferroni)
    // of the clusters' means: simultaneous limits of means allow for it, or for that of the draws
    double skewness = 0.0;
};

/// Grouping of draws: `draws[c * size + k]` are the `size` draws of fleet c, which are dependent.
/// The fleets of one block of `block` draws are stratified together (a randomised design); blocks
/// are independent. 0: no blocks.
struct Clusters {
    std::size_t size = 1;
    std::size_t block = 0;
};
/// Fewest blocks (independent randomisations) from which the error of stratified draws is estimated.
inline constexpr std::size_t least_blocks = 16;

/// Returns the quantile of clustered draws with distribution-free limits.
///
/// Limits are order statistics whose ranks come from the binomial distribution of n / deff
/// independent draws, with deff the measured design effect of the clusters (1 for size = 1, where the
/// interval is exact). Source: Woodruff, J. Am. Stat. Assoc. 47 (1952) 635-646. Limits are infinite
/// if there are too few draws. With 16 or more blocks, the reported limits include the gain of
/// stratification; the simultaneous limits never do.
Estimate quantile_estimate(std::span<const double> draws, const Clusters& clusters, double probability,
                           const Confidence& confidence);

/// Returns the mean of clustered draws with Student's t limits from the cluster means; infinite with fewer
/// than two clusters, and where there are too few for the skewness, which is the larger of the given and the
/// measured one. With 16 blocks and more the reported limits come from the block means.
Estimate mean_estimate(std::span<const double> draws, const Clusters& clusters, const Confidence& confidence);

/// Returns the normal score whose Student's t limit of a mean is missed with probability `tail`, for
/// independent values of this skewness, which is known or an upper limit: x with P(Z > x) exp(skewness x^3 /
/// (3 sqrt(count))) = tail. Infinite if there is none, because there are too few values. Source: Jing, Shao,
/// Wang, Ann. Probab. 31 (2003) 2167-2215.
double score_for_skewness(double tail, double skewness, double count);

/// Returns the standard error of the mean of clustered draws: from blocks if there are at least 16, else
/// from clusters; infinite with one.
double mean_error(std::span<const double> draws, const Clusters& clusters);

/// A point of a quantile function.
struct DistributionNode {
    double below = 0.0;  // probability
    double value = 0.0;
};

/// Returns the quantile of C T, given draws of T and an independent factor C that scales all of T. C is given
/// by nodes from probability 0 to 1, with a linear quantile function between them, and is integrated: F(t) =
/// mean over draws of F_C(t / T_i), so it adds no noise. Limits as Woodruff's, from the variance of F between
/// blocks, or between fleets with fewer than 16 blocks; infinite with fewer than 16 fleets.
Estimate scaled_quantile_estimate(std::span<const double> draws, const Clusters& clusters,
                                  std::span<const DistributionNode> factor, double probability,
                                  const Confidence& confidence);

/// Returns quantiles of C T as above, or of T if `factor` is empty.
std::vector<double> quantiles(std::span<const double> draws, std::span<const DistributionNode> factor,
                              std::span<const double> probabilities);

}  // namespace prismopt
