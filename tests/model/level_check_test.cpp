#include "model/level_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

TEST(LevelCheck, IsTheModelIntervalWhereJobsAreEqual)
{
    const LevelCheck check = check_level(10.0, 0.0, {10.0, 10.0}, 0.9, 1.2);
    EXPECT_NEAR(check.low_s, 9.0, 1e-6);
    EXPECT_NEAR(check.high_s, 12.0, 1e-6);
    EXPECT_NEAR(check.predicted_s, 10.0 * std::sqrt(0.9 * 1.2), 1e-6);
    EXPECT_EQ(check.verdict, LevelVerdict::compatible);
}

TEST(LevelCheck, WidensWithTheJobsAndTheMeasurement)
{
    const double alone = check_level(10.0, 0.0, {10.0}, 0.9, 1.1).high_s;
    EXPECT_GT(check_level(10.0, 0.05, {10.0}, 0.9, 1.1).high_s, alone + 0.1);
    EXPECT_GT(check_level(10.0, 0.0, {9.0, 11.0}, 0.9, 1.1).high_s, alone + 0.5);
}

TEST(LevelCheck, JudgesBySides)
{
    EXPECT_EQ(check_level(13.0, 0.01, {10.0}, 0.9, 1.1).verdict, LevelVerdict::slower);
    EXPECT_EQ(check_level(8.0, 0.01, {10.0}, 0.9, 1.1).verdict, LevelVerdict::faster);
    const LevelCheck check = check_level(10.5, 0.001, {10.0}, 0.9, 1.1);
    EXPECT_EQ(check.verdict, LevelVerdict::compatible);
    EXPECT_GT(check.percentile, 0.8);
    EXPECT_LT(check.percentile, 0.9);
    EXPECT_GT(check.percentile_of_draws, 0.9999);  // 5 % above an exact model
}

}  // namespace
}  // namespace prismopt
