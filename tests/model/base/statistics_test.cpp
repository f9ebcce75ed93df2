#include "model/base/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {

namespace {

TEST(Statistics, QuantilesAreThoseOfTables)
{
    EXPECT_NEAR(normal_quantile(0.975), two_sided_95, 1e-6);
    EXPECT_EQ(normal_quantile(0.5), 0.0);
    EXPECT_NEAR(student_quantile(12.0, 0.975), 2.178813, 1e-6);
    EXPECT_NEAR(fisher_limit(5.0, 10.0, 0.05), 3.325835, 1e-6);
}

TEST(Statistics, TheUpperQuantileKeepsTheDigitsOfASmallProbability)
{
    EXPECT_DOUBLE_EQ(normal_quantile(1e-30, true), -normal_quantile(1e-30));
    EXPECT_DOUBLE_EQ(student_quantile(7.0, 1e-12, true), -student_quantile(7.0, 1e-12));
}

TEST(Statistics, ProbabilitiesInvertQuantiles)
{
    for (const double p : {1e-9, 0.1, 0.7}) {
        EXPECT_NEAR(normal_probability(normal_quantile(p)), p, 1e-14);
        EXPECT_NEAR(fisher_beyond(3.0, 8.0, fisher_limit(3.0, 8.0, p)), p, 1e-14);
    }
    // Closed form for two degrees of freedom.
    EXPECT_NEAR(chi_squared_beyond(2.0, 5.0), std::exp(-2.5), 1e-14);
}

TEST(Statistics, VarianceLimitsHaveChiSquaredTails)
{
    const StatisticLimits limits = variance_limits(4.0, 9.0);
    EXPECT_NEAR(chi_squared_beyond(9.0, 9.0 * 4.0 / limits.low), 0.025, 1e-12);
    EXPECT_NEAR(chi_squared_beyond(9.0, 9.0 * 4.0 / limits.high), 0.975, 1e-12);
}

TEST(Statistics, ShareLimitsAreClosedFormsWithoutHitsAndWithoutMisses)
{
    const double far = std::pow(0.025, 0.1);
    const StatisticLimits none = share_limits(10.0, 0.0, 0.025);
    EXPECT_EQ(none.low, 0.0);
    EXPECT_NEAR(none.high, 1.0 - far, 1e-12);
    const StatisticLimits all = share_limits(10.0, 10.0, 0.025);
    EXPECT_NEAR(all.low, far, 1e-12);
    EXPECT_EQ(all.high, 1.0);
}

}  // namespace

}  // namespace prismopt
