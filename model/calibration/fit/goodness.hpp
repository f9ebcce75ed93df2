#pragma once

/// How far samples and laws are apart.

#include <functional>
#include <span>
#include <vector>

namespace prismopt {

/// Largest distance between the empirical distribution of rising values and a distribution function.
double ks_distance(std::span<const double> rising, const std::function<double(double)>& probability);
/// The same between two samples, both rising.
double ks_distance(std::span<const double> rising, std::span<const double> others);

/// Probability of a distance of at least this if both are alike; `n`: the sample's size, for two samples n1 n2 / (n1 + n2).
/// Asymptotic series with Stephens' correction for small n (J. R. Statist. Soc. B 32 (1970) 115-122), good to 0.01 from n = 4.
double ks_probability(double distance, double n);

/// Quantile of rising values, linear between order statistics (Hyndman and Fan's type 7).
double quantile_of(std::span<const double> rising, double p);

double mean_of(std::span<const double> values);
double variance_of(std::span<const double> values);  // of the population that they are from: divisor n - 1
double median_of(std::vector<double> values);
std::vector<double> exponentials(std::vector<double> logs);

/// The threshold that parts values into the two groups whose means are furthest apart, w0 w1 (m0 - m1)^2, and the part of the
/// variance that lies between them. Otsu, IEEE Trans. Syst. Man Cybern. 9 (1979) 62-66.
struct Otsu {
    double threshold = 0.0;
    double separation = 0.0;  // 0 to 1; 0.64 for one normal law, 0.75 for one uniform law
    double low_mean = 0.0;
    double high_mean = 0.0;
};
Otsu otsu(std::vector<double> values);

/// First value of a series from which it is steady, at most its middle. Off goes what lies beyond all after it by more than their
/// range; then the cut that makes the mean of the rest most precise, White's MSER (Simulation 69 (1997) 323-334): d minimises
/// sum over i >= d of (x_i - mean_d)^2 / (n - d)^2. A steady series has some cut that gains, too: it counts where it gains more than in
/// 19 of 20 rearrangements of the series by blocks as long as its memory, and where the beginning differs from the rest by three times as
/// much as the rest's halves from each other. A slow trend has no beginning: cuts are looked for beside Sen's slope first.
std::size_t steady_from(std::span<const double> series);

/// How much longer the last of a series is than the first, by Sen's slope, and whether it is beyond chance: Mann and Kendall's test at one
/// in a thousand, its variance times the series' memory. Kendall, Rank Correlation Methods (1948).
struct Trend {
    double change = 0.0;
    bool present = false;
};
Trend trend_of(std::span<const double> series);

}  // namespace prismopt
