#include "model/run/changes/cusum_charts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace prismopt {

namespace {

/// Each is best for shifts of twice as many standard deviations.
constexpr std::array<double, 3> allowances{0.2, 0.5, 1.0};
/// Mean run length of a chart over that of all. With six, the rates of all charts would add up to the rate asked for; charts of a
/// direction alarm together. Measured: with five, about as many false alarms as asked for, returns from them included
/// (results/watch.md).
constexpr double charts_apart = 5.0;
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

CusumCharts::CusumCharts(double observations)
{
    const double run_length = std::max(least_run_length, charts_apart * observations);
    for (const double allowance : allowances) {
        for (const int direction : {1, -1}) {
            charts_.push_back({allowance, cusum_limit(allowance, run_length), direction, 0.0});
        }
    }
}

bool CusumCharts::add(double score)
{
    bool alarm = false;
    for (Chart& chart : charts_) {
        chart.sum = std::max(0.0, chart.sum + chart.direction * score - chart.allowance);
        alarm = alarm || chart.sum > chart.limit;
    }
    if (alarm) {
        for (Chart& chart : charts_) {
            chart.sum = 0.0;
        }
    }
    return alarm;
}

}  // namespace prismopt
