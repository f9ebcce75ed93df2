#include "model/run/changes/slow_level.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace prismopt {
namespace {

TEST(SlowLevel, EstimatesAConstantAsItsMean)
{
    SlowLevel level({}, 1.0, 0.0);
    const std::vector<double> values{0.3, -0.1, 0.2, 0.4};
    constexpr double noise = 1e-4;
    double sum = 0.0;
    for (const double value : values) {
        level.advance();
        level.update(value - level.expected(), noise);
        sum += value;
    }
    level.advance();
    EXPECT_NEAR(level.expected(), sum / 4.0, 1e-4);  // the prior of deviation 1 counts a little
    EXPECT_NEAR(level.variance(0.0), noise / 4.0, 1e-8);
}

TEST(SlowLevel, KeepsItsVarianceOverDays)
{
    const double swing = 0.02;
    SlowLevel level({.swing = swing}, 60.0, 0.0);
    const double before = level.variance(0.0);
    for (int minute = 0; minute < 5 * 1440; ++minute) {
        level.advance();
    }
    EXPECT_NEAR(level.variance(0.0) - 1.0, before - 1.0, 0.01 * swing * swing / 8.0);  // stationary: amplitude^2 / 2
    EXPECT_NEAR(before - 1.0, swing * swing / 8.0, 1e-12);
}

}  // namespace
}  // namespace prismopt
