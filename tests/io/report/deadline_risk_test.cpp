#include "io/report/deadline_risk.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
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
    const auto risk = deadline_risk(uniform(), Seconds{60.0}, ModelError{0.8, 1.25});
    ASSERT_TRUE(risk);
    EXPECT_NEAR(risk->low, 0.25, 1e-12);
    EXPECT_NEAR(risk->high, 0.52, 1e-12);
    // 1 - 0.6 E[1 / factor]; the factor is lognormal with median 1, so the mean of its
    // inverse is exp(deviation^2 / 2).
    const double deviation = std::log(1.25) / 1.959964;
    EXPECT_NEAR(risk->mean, 1.0 - 0.6 * std::exp(0.5 * deviation * deviation), 2e-4);
    EXPECT_EQ(deadline_risk_text(*risk),
              "including the model error, 40 % (25 % to 52 % at the limits of its interval)");
}

TEST(DeadlineRisk, SaysWhatTheTableDoesNotHave)
{
    const auto risk = deadline_risk(uniform(), Seconds{60.0}, ModelError{0.5, 1e4});
    ASSERT_TRUE(risk);
    EXPECT_EQ(deadline_risk_text(*risk), fmt::format("including the model error, {:.0f} % (less than 0.1 % "
                                                     "to more than 99.9 % at the limits of its interval)",
                                                     100.0 * risk->mean));
}

/// Errors beyond the 95 % limits count in the mean, which is stated however small the risk is at the limits.
TEST(DeadlineRisk, StatesTheMeanBeyondTheLimits)
{
    ModelError rare{0.9, 1.1, std::vector<double>(reported_probabilities.size(), 1.0)};
    rare.quantiles.back() = 100.0;
    const auto risk = deadline_risk(uniform(), Seconds{200.0}, rare);
    ASSERT_TRUE(risk);
    ASSERT_GT(risk->mean, 2.0 * risk->high);
    EXPECT_EQ(deadline_risk_text(*risk),
              fmt::format("including the model error, {} (less than 0.1 % at the limits of its interval, "
                          "more beyond them)",
                          risk_with_error_text(*risk)));
}

TEST(DeadlineRisk, NeedsADeadlineAnIntervalAndATable)
{
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(deadline_risk(uniform(), Seconds{}, ModelError{0.8, 1.25}));
    EXPECT_FALSE(deadline_risk(uniform(), Seconds{60.0}, ModelError{none, none}));
    EXPECT_FALSE(deadline_risk({}, Seconds{60.0}, ModelError{0.8, 1.25}));
}

TEST(DeadlineRisk, ProbabilitiesHaveTwoDigitsUpToCertainty)
{
    EXPECT_EQ(probability_text(Estimate::exact(0.0039)), "0.39 %");
    EXPECT_EQ(probability_text(Estimate::exact(0.943)), "94 %");
    EXPECT_EQ(probability_text(Estimate::exact(0.9993)), "99.9 %");
    EXPECT_EQ(probability_text(Estimate::exact(1.0)), "100 %");
}

/// A probability after draws of which none, or each, missed the deadline.
Estimate of_draws(double value, double low, double high)
{
    Estimate probability;
    probability.value = value;
    probability.low = low;
    probability.high = high;
    return probability;
}

TEST(DeadlineRisk, WhatNoDrawMissedIsALimit)
{
    const Estimate none = of_draws(0.0, 0.0, 0.0018);
    const Estimate each = of_draws(1.0, 0.9982, 1.0);
    EXPECT_EQ(probability_text(none), "less than 0.18 %");
    EXPECT_EQ(probability_text(each), "more than 99.8 %");
    EXPECT_EQ(stated("miss_probability", none).value, 0.0018);
    EXPECT_EQ(stated("miss_probability", each).value, 0.9982);
    EXPECT_EQ(stated("miss_probability", of_draws(0.02, 0.01, 0.03)).value, 0.02);
    EXPECT_EQ(stated("cost", none).value, 0.0);
}

TEST(DeadlineRisk, IsNeverZeroBeyondTheTable)
{
    const auto risk = deadline_risk(uniform(), Seconds{1e9}, ModelError{0.9, 1.1});
    ASSERT_TRUE(risk);
    EXPECT_NEAR(risk->mean, 1.0 - reported_probabilities.back(), 1e-12);
    EXPECT_EQ(risk_with_error_text(*risk), "less than 0.1 %");
}

TEST(DeadlineRisk, IsNeverCertainBeforeTheTable)
{
    const auto risk = deadline_risk(uniform(), Seconds{1e-3}, ModelError{0.9, 1.1});
    ASSERT_TRUE(risk);
    EXPECT_EQ(risk_with_error_text(*risk), "more than 99.9 %");
    EXPECT_EQ(tabulated_text(1.0 - risk->mean), "less than 0.1 %");
    EXPECT_EQ(tabulated_text(1.0), "100 %");  // there is no limit
}

}  // namespace
}  // namespace prismopt
