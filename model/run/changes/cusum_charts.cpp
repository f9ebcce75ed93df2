#include "model/run/changes/cusum_charts.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

/// Fewest scores to an alarm: a pause or a spike of three steps is not a change of the level.
constexpr double fewest = 4.0;
constexpr double least_run_length = 10.0;

}  // namespace

double cusum_limit(double allowance, double run_length)
{
    // run length = (exp(2 k b) - 2 k b - 1) / (2 k^2), b = limit + 1.166, in control
    constexpr double overshoot = 1.166;
    constexpr int iterations = 50;
    const double goal = 2.0 * allowance * allowance * run_length + 1.0;
    double b = std::log(goal) / (2.0 * allowance);
    for (int i = 0; i < iterations; ++i) {
        b = std::log(goal + 2.0 * allowance * b) / (2.0 * allowance);
    }
    return b - overshoot;
}

CusumCharts::CusumCharts(double allowance, double run_length) { set(allowance, run_length); }

void CusumCharts::set(double allowance, double run_length)
{
    allowance_ = allowance;
    // The rates of both charts add up.
    limit_ =
        std::max(cusum_limit(allowance, 2.0 * std::max(least_run_length, run_length)), (fewest - 0.5) * most);
}

std::optional<std::int64_t> CusumCharts::add(double score)
{
    std::optional<std::int64_t> alarm;
    for (Chart& chart : charts_) {
        chart.sum = std::max(0.0, chart.sum + std::min(chart.direction * score - allowance_, most));
        chart.length = chart.sum > 0.0 ? chart.length + 1 : 0;
        if (chart.sum > limit_) {
            alarm = chart.length;
        }
    }
    if (alarm) {
        for (Chart& chart : charts_) {
            chart.sum = 0.0;
            chart.length = 0;
        }
    }
    return alarm;
}

}  // namespace prismopt
