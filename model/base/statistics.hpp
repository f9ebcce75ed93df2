#pragma once

/// Quantiles, tail probabilities and limits from standard distributions. Their one source includes
/// Boost.Math, which takes seconds to compile.

namespace prismopt {

/// Quantile 0.975 of the normal distribution.
inline constexpr double two_sided_95 = 1.959964;

/// Quantiles of probability `p`; with `upper`, the value exceeded with probability `p`, which
/// keeps the digits of a small one.
double normal_quantile(double p, bool upper = false);
double student_quantile(double freedom, double p, bool upper = false);

/// Probability that a standard normal variable is at most `z`.
double normal_probability(double z);

/// Probabilities that a variable exceeds `x`, for tests of significance.
double chi_squared_beyond(double freedom, double x);
double fisher_beyond(double freedom, double freedom_of_divisor, double x);
/// Value that Fisher's F exceeds with probability `p`.
double fisher_limit(double freedom, double freedom_of_divisor, double p);

struct StatisticLimits {
    double low = 0.0;
    double high = 0.0;
};

/// Returns the 95 % limits of the variance of a normal distribution, given the estimate
/// of so many degrees of freedom.
StatisticLimits variance_limits(double variance, double freedom);

/// Returns the limits of a probability after `hits` in `count` trials, each of which misses it with
/// probability `tail` (Clopper and Pearson, Biometrika 26 (1934) 404-413).
StatisticLimits share_limits(double count, double hits, double tail);

}  // namespace prismopt
