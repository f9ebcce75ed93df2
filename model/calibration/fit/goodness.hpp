#pragma once

/// Goodness of fit, and other statistics of samples and series. docs/methods/calibration.md.

#include <functional>
#include <span>
#include <vector>

namespace prismopt {

/// Returns the largest distance between the empirical distribution of ascending
/// values and a distribution function.
double ks_distance(std::span<const double> rising, const std::function<double(double)>& probability);
/// Returns the largest distance between the empirical distributions of two ascending samples.
double ks_distance(std::span<const double> rising, std::span<const double> others);

/// Returns the probability of a distance of at least this if the distributions are equal. `n`:
/// the sample's size, or n1 n2 / (n1
/// + n2) for two samples. Asymptotic series with Stephens' correction for small n (J. R. Statist.
///   Soc. B 32 (1970) 115-122), good
/// to 0.01 from n = 4.
double ks_probability(double distance, double n);

/// Returns a quantile of ascending values, linear between order statistics (Hyndman and Fan's type 7).
double quantile_of(std::span<const double> rising, double p);

double mean_of(std::span<const double> values);
double variance_of(std::span<const double> values);  // unbiased: divisor n - 1
std::vector<double> exponentials(std::vector<double> logs);

/// Otsu's threshold, which separates values into two groups with the largest w0 w1 (m0 - m1)^2, and the share
/// of the variance between them. Otsu, IEEE Trans. Syst. Man Cybern. 9 (1979) 62-66.
struct Otsu {
    double threshold = 0.0;
    double separation = 0.0;  // 0 to 1; 0.64 for one normal distribution, 0.75 for one uniform distribution
    double low_mean = 0.0;
    double high_mean = 0.0;
};
Otsu otsu(std::vector<double> values);

/// Returns the index of the first value from which a series is steady, at most its middle. Cuts the warm-up
/// by White's MSER (Simulation 69 (1997) 323-334) if the cut gains more than in 19 of 20 rearrangements of
/// the series by blocks, and if the beginning differs from the rest three times as much as the halves of the
/// rest from each other. Sen's slope is removed first, because a trend is not a warm-up.
std::size_t steady_from(std::span<const double> series);

/// Relative change from the first to the last of a series, by Sen's slope, and whether it is significant:
/// Mann and Kendall's test at one in a thousand, its variance times the correlation length of the series.
/// Kendall, Rank Correlation Methods (1948).
struct Trend {
    double change = 0.0;
    bool present = false;
};
Trend trend_of(std::span<const double> series);

}  // namespace prismopt
