#include "io/report/deadline_risk.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace prismopt {
namespace {

/// Uniform between 0 and 100 s.
TimeDistribution uniform()
{
    TimeDistribution times;
    for (const double probability : reported_probabilities) {
        times.quantiles.push_back(100.0 * probability);
    }
    return times;
}

TEST(DeadlineRisk, ShiftsTheDistributionByTheLimits)
{
    const auto risk = deadline_risk(uniform(), Seconds{60.0}, 0.8, 1.25);
    ASSERT_TRUE(risk);
    EXPECT_NEAR(risk->low, 0.25, 1e-12);
    EXPECT_NEAR(risk->high, 0.52, 1e-12);
    EXPECT_EQ(deadline_risk_text(*risk), "including the model error, between 25 % and 52 %");
}

TEST(DeadlineRisk, SaysWhatTheTableDoesNotHave)
{
    const auto risk = deadline_risk(uniform(), Seconds{60.0}, 0.5, 1e4);
    ASSERT_TRUE(risk);
    EXPECT_EQ(deadline_risk_text(*risk), "including the model error, between less than 0.1 % and more than 99.9 %");
}

TEST(DeadlineRisk, NeedsADeadlineAnIntervalAndATable)
{
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(deadline_risk(uniform(), Seconds{}, 0.8, 1.25));
    EXPECT_FALSE(deadline_risk(uniform(), Seconds{60.0}, none, none));
    EXPECT_FALSE(deadline_risk({}, Seconds{60.0}, 0.8, 1.25));
}

TEST(DeadlineRisk, ProbabilitiesHaveTwoDigitsUpToCertainty)
{
    EXPECT_EQ(probability_text(0.0039), "0.39 %");
    EXPECT_EQ(probability_text(0.943), "94 %");
    EXPECT_EQ(probability_text(0.9993), "99.9 %");
    EXPECT_EQ(probability_text(1.0), "100 %");
}

}  // namespace
}  // namespace prismopt
