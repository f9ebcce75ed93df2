#include "model/calibration/fit/effect_spread.hpp"

#include "model/base/statistics.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

Component spread_of_effects(const std::string& name, const std::vector<double>& effects,
                            const std::vector<double>& errors, double freedom, double draws)
{
    double noise = 0.0;
    for (const double error : errors) {
        noise += error * error / static_cast<double>(errors.size());
    }
    constexpr double level = 0.01;
    const double seen = variance_of(effects);
    const double units = std::max(1.0, draws - 1.0);
    const StatisticLimits limits = variance_limits(seen, units);
    Component result;
    result.name = name;
    result.units = static_cast<int>(effects.size());
    result.present = noise > 0.0 ? fisher_beyond(units, freedom, seen / noise) < level : seen > 0.0;
    result.variance = std::max(0.0, seen - noise);
    result.low = std::max(0.0, limits.low - noise);
    result.high = std::max(0.0, limits.high - noise);
    return result;
}

std::vector<double> with_variance(std::vector<double> effects, double variance)
{
    const double seen = variance_of(effects);
    const double stretch = seen > 0.0 ? std::sqrt(variance / seen) : 0.0;
    for (double& effect : effects) {
        effect *= stretch;
    }
    return effects;
}

double independent_draws(const std::vector<double>& series)
{
    const auto n = static_cast<double>(series.size());
    constexpr std::size_t least = 20;  // fewer carry no information about a correlation
    const double variance = variance_of(series);
    if (series.size() < least || !(variance > 0.0)) {
        return n;
    }
    const double mean = mean_of(series);
    double product = 0.0;
    for (std::size_t i = 1; i < series.size(); ++i) {
        product += (series[i] - mean) * (series[i - 1] - mean) / (n - 1.0);
    }
    const double r = std::clamp(product / variance, 0.0, 0.99);
    return n * (1.0 - r * r) / (1.0 + r * r);
}

}  // namespace prismopt
