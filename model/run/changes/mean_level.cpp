#include "model/run/changes/mean_level.hpp"

#include "model/base/median.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace prismopt {

namespace {

constexpr double day_s = 86'400.0;
/// Standard deviation of a normal distribution over its median absolute deviation.
constexpr double mad_scale = 1.4826;

/// Mean of a cosine over a window of this angle about its peak.
double mean_cosine(double angle) { return angle > 0.0 ? std::sin(angle / 2.0) / (angle / 2.0) : 1.0; }

}  // namespace

void MeanLevel::add(double value, double most)
{
    observations = std::min(observations + 1.0, most);
    log_s += (value - log_s) / observations;
}

void StepTails::add(double ratio)
{
    observations += 1.0;
    sum += ratio;
    squares += ratio * ratio;
}

double StepTails::variance() const { return std::max(0.0, squares / observations - mean() * mean()); }

double robust_deviation(std::vector<double> values, double middle)
{
    for (double& value : values) {
        value = std::abs(value - middle);
    }
    return std::max(least_deviation, mad_scale * median_of(values));
}

double noise_deviation(const std::vector<double>& values)
{
    constexpr double share = 1.0 / 7.0;
    constexpr double normal_quantile = 1.0676;  // that a standard normal value exceeds with this probability
    constexpr double separation = 2.0;  // over the other one: a mode of 15 % that is 3 deviations away
    const double deviation = robust_deviation(values, median_of(values));
    std::vector<double> rising = values;
    std::sort(rising.begin(), rising.end());
    const auto beyond = static_cast<std::size_t>(share * static_cast<double>(rising.size()));
    const double wide = (rising[rising.size() - 1 - beyond] - rising[beyond]) / (2.0 * normal_quantile);
    return wide > separation * deviation ? wide : deviation;
}

double clipped_mean(const std::vector<double>& values, double clip)
{
    const double median = median_of(values);
    double sum = 0.0;
    for (const double value : values) {
        sum += std::clamp(value - median, -clip, clip);
    }
    return median + sum / static_cast<double>(values.size());
}

double daily_difference(double before_s, double after_s)
{
    // The means of a cycle over the windows are phasors with the angle between the middles of the windows.
    constexpr double frequency = 2.0 * std::numbers::pi / day_s;
    const double before = mean_cosine(frequency * before_s);
    const double after = mean_cosine(frequency * after_s);
    const double between = std::cos(frequency * (before_s + after_s) / 2.0);
    return std::sqrt(std::max(0.0, before * before + after * after - 2.0 * before * after * between));
}

}  // namespace prismopt
