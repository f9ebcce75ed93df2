#include "model/level_check.hpp"

#include "model/base/root.hpp"
#include "model/base/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// Probability that a measured mean is below exp(x): the mean over jobs of normal
/// distributions of its logarithm.
double below(double x, const std::vector<double>& logs, double centre, double deviation)
{
    double sum = 0.0;
    for (const double log_s : logs) {
        sum += normal_probability((x - log_s - centre) / deviation);
    }
    return sum / static_cast<double>(logs.size());
}

double quantile(double probability, const std::vector<double>& logs, double centre, double deviation)
{
    const auto [least, most] = std::minmax_element(logs.begin(), logs.end());
    const Bracket range{*least + centre - 10.0 * deviation, *most + centre + 10.0 * deviation};
    const auto is_less = [&](double x) { return below(x, logs, centre, deviation) < probability; };
    return std::exp(bisect(range, {.halvings = 60}, is_less).middle());
}

LevelVerdict verdict_of(double measured_s, const LevelCheck& check)
{
    if (measured_s > check.high_s) {
        return LevelVerdict::slower;
    }
    return measured_s < check.low_s ? LevelVerdict::faster : LevelVerdict::compatible;
}

}  // namespace

LevelCheck check_level(double measured_s, double error, const std::vector<double>& jobs_s, double model_low,
                       double model_high)
{
    std::vector<double> logs;
    logs.reserve(jobs_s.size());
    for (const double s : jobs_s) {
        logs.push_back(std::log(s));
    }
    constexpr double least_deviation = 1e-6;
    const double model = std::log(model_high / model_low) / (2.0 * two_sided_95);
    const double centre = 0.5 * (std::log(model_high) + std::log(model_low));
    const double deviation = std::max(least_deviation, std::hypot(model, error));
    const double measured = std::log(measured_s);
    LevelCheck check;
    check.predicted_s = quantile(0.5, logs, centre, deviation);
    check.low_s = quantile(0.025, logs, centre, deviation);
    check.high_s = quantile(0.975, logs, centre, deviation);
    check.percentile = below(measured, logs, centre, deviation);
    check.percentile_of_draws = below(measured, logs, 0.0, std::max(least_deviation, error));
    check.verdict = verdict_of(measured_s, check);
    return check;
}

}  // namespace prismopt
