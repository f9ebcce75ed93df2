#pragma once

/// Levels of the step times of a job: robust means of their logarithms, and what single slow
/// steps add. docs/methods/watch.md.

#include <vector>

namespace prismopt {

/// Mean of the logarithms of step times, each clipped about the level so far.
struct MeanLevel {
    double log_s = 0.0;
    double observations = 0.0;  // that it averages

    /// Adds a value; those before weigh as `most - 1` observations at most.
    void add(double value, double most);
};

/// Step times over their level, single slow steps included.
struct StepTails {
    double observations = 0.0;
    double sum = 0.0;
    double squares = 0.0;

    void add(double ratio);
    double mean() const { return sum / observations; }
    double variance() const;
};

/// Least standard deviation of log step times: logs print few digits.
inline constexpr double least_deviation = 1e-5;

/// Standard deviation by the median absolute deviation from `middle`; at least the least.
double robust_deviation(std::vector<double> values, double middle);

/// The same, unless more than one in seven of the values are in a mode of their own, as where
/// every third step is slow: these are noise too, and the deviation is that of the quantiles
/// beyond which one in seven are.
double noise_deviation(const std::vector<double>& values);

/// Mean of the values, each clipped to this distance from their median.
double clipped_mean(const std::vector<double>& values, double clip);

/// Largest difference between the means of two successive windows over a daily cycle of amplitude 1. Its root
/// mean square over all phases is smaller by sqrt(2).
double daily_difference(double before_s, double after_s);

}  // namespace prismopt
