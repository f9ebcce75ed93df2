#include "model/run/changes/mean_level.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace prismopt {
namespace {

TEST(MeanLevel, IsAMeanUntilItFollows)
{
    MeanLevel level;
    for (const double value : {1.0, 2.0, 3.0, 6.0}) {
        level.add(value, 4.0);
    }
    EXPECT_NEAR(level.log_s, 3.0, 1e-12);
    for (int i = 0; i < 4; ++i) {
        level.add(0.0, 4.0);  // each new value weighs a quarter
    }
    EXPECT_NEAR(level.log_s, 3.0 * std::pow(0.75, 4.0), 1e-12);
    EXPECT_EQ(level.observations, 4.0);
}

TEST(StepTails, HaveTheMeanAndVarianceOfTheirRatios)
{
    StepTails tails;
    for (const double ratio : {1.0, 1.0, 1.0, 3.0}) {
        tails.add(ratio);
    }
    EXPECT_NEAR(tails.mean(), 1.5, 1e-12);
    EXPECT_NEAR(tails.variance(), 0.75, 1e-12);
}

TEST(RobustMeans, IgnoreHowFarSingleValuesAre)
{
    const std::vector<double> values{0.9, 1.0, 1.0, 1.1, 100.0};
    EXPECT_NEAR(clipped_mean(values, 0.2), 1.0 + 0.2 / 5.0, 1e-12);
    EXPECT_NEAR(robust_deviation(values, 1.0), 1.4826 * 0.1, 1e-12);
    EXPECT_GT(robust_deviation({1.0, 1.0, 1.0}, 1.0), 0.0);
}

TEST(NoiseDeviation, SeesAModeOfMoreThanOneInSeven)
{
    const auto with_slow = [](int every) {
        std::vector<double> values;
        for (int i = 0; i < 210; ++i) {
            values.push_back(0.01 * (i % 5) + (i % every == 0 ? 10.0 : 0.0));
        }
        return values;
    };
    EXPECT_GT(noise_deviation(with_slow(3)), 4.0);
    EXPECT_GT(noise_deviation(with_slow(6)), 4.0);
    EXPECT_LT(noise_deviation(with_slow(10)), 0.05);
}

TEST(DailyDifference, VanishesForShortAndForWholeDays)
{
    constexpr double day_s = 86'400.0;
    // The slope times the distance.
    EXPECT_NEAR(daily_difference(60.0, 60.0), 2.0 * std::numbers::pi * 60.0 / day_s, 1e-6);
    EXPECT_NEAR(daily_difference(day_s, day_s), 0.0, 1e-12);
    // Means of both half waves.
    EXPECT_NEAR(daily_difference(day_s / 2.0, day_s / 2.0), 4.0 / std::numbers::pi, 1e-12);
    EXPECT_NEAR(daily_difference(1.0, 30.0 * day_s), 1.0, 1e-3);
}

}  // namespace
}  // namespace prismopt
