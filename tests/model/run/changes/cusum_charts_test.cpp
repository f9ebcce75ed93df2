#include "model/run/changes/cusum_charts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace prismopt {
namespace {

TEST(CusumLimit, InvertsSiegmundsRunLength)
{
    // Brook and Evans's run lengths by Siegmund's formula, and exact by a Markov chain of 151 states: 938 and 931, 19110 and
    // 18940.
    EXPECT_NEAR(cusum_limit(0.5, 938.0), 5.0, 0.01);
    EXPECT_NEAR(cusum_limit(0.5, 19110.0), 8.0, 0.01);
    EXPECT_NEAR(cusum_limit(0.25, 738.0), 8.0, 0.01);
    EXPECT_NEAR(cusum_limit(1.0, 15340.0), 4.0, 0.01);
}

TEST(CusumCharts, AlarmAsSeldomAsAsked)
{
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal;
    constexpr double asked = 2000.0;
    constexpr int count = 400'000;
    CusumCharts charts(asked);
    int alarms = 0;
    for (int i = 0; i < count; ++i) {
        alarms += charts.add(normal(generator)) ? 1 : 0;
    }
    const double expected = count / asked;
    EXPECT_LT(alarms, 1.2 * expected + 4.0 * std::sqrt(expected));
    EXPECT_GT(alarms, 0.5 * expected - 4.0 * std::sqrt(expected));
}

TEST(CusumCharts, AlarmSoonAfterAShift)
{
    CusumCharts charts(1e5);
    int steps = 1;
    while (!charts.add(-3.0)) {
        ++steps;
    }
    EXPECT_LE(steps, 5);
}

}  // namespace
}  // namespace prismopt
