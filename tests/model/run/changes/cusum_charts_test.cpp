#include "model/run/changes/cusum_charts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace prismopt {
namespace {

TEST(CusumLimit, InvertsSiegmundsRunLength)
{
    // Brook and Evans's run lengths by Siegmund's formula, and exact by a Markov chain of 151
    // states: 938 and 931, 19110 and
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
    constexpr double asked = 1e5;
    constexpr int count = 3'000'000;
    CusumCharts charts(0.5, asked);
    int alarms = 0;
    for (int i = 0; i < count; ++i) {
        alarms += charts.add(normal(generator)) ? 1 : 0;
    }
    const double expected = count / asked;
    EXPECT_NEAR(alarms, expected, 4.0 * std::sqrt(expected));
}

TEST(CusumCharts, NeedFourScoresHoweverLarge)
{
    for (const double direction : {1.0, -1.0}) {
        CusumCharts charts(2.0, 1e4);
        EXPECT_FALSE(charts.add(direction * 1e6));
        EXPECT_FALSE(charts.add(direction * 1e6));
        EXPECT_FALSE(charts.add(direction * 1e6));
        EXPECT_EQ(charts.add(direction * 1e6), 4);
        EXPECT_FALSE(charts.add(direction * 1e6));  // from zero again
    }
}

TEST(CusumCharts, KeepTheirSumsWithANewLimit)
{
    CusumCharts charts(2.0, 1e4);
    charts.add(9.0);
    charts.add(9.0);
    charts.set(2.5, 1e5);
    charts.add(9.0);
    EXPECT_EQ(charts.add(9.0), 4);
}

}  // namespace
}  // namespace prismopt
