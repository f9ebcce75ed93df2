#include "io/report/completion.hpp"

#include "io/report/deadline_risk.hpp"
#include "tests/io/sample_results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace prismopt {
namespace {

constexpr double seconds_of_day = 86400.0;

/// Times that are known but for the error of the model, a factor with a normal logarithm.
FrontPoint certain(double days, double error)
{
    FrontPoint point = sample_results().front.front();
    TimeDistribution& training = point.prediction.training;
    for (std::size_t i = 0; i < training.quantiles.size(); ++i) {
        training.quantiles[i] = days * seconds_of_day * (1.0 + 1e-6 * static_cast<double>(i));
    }
    training.p50 = training.p99 = Estimate::exact(days * seconds_of_day);
    point.model_low = 1.0 / error;
    point.model_high = error;
    return point;
}

TEST(Completion, IncludesTheModelError)
{
    const std::chrono::sys_days start = std::chrono::year{2027} / 1 / 1;
    const auto done = completions(certain(100.0, 1.2), start);
    const double deviation = std::log(1.2) / 1.959964;
    EXPECT_NEAR(done[0].with_error.seconds / seconds_of_day, 100.0, 0.1);
    EXPECT_NEAR(done[1].with_error.seconds / seconds_of_day, 100.0 * std::exp(1.281552 * deviation), 0.2);
    EXPECT_NEAR(done[1].exact.seconds / seconds_of_day, 100.0, 0.1);
    EXPECT_EQ(done[1].exact.date, "2027-04-11");
    EXPECT_EQ(done[1].with_error.date, "2027-04-23");
    EXPECT_EQ(&done[1].known(), &done[1].with_error);
}

TEST(Completion, IsExactWhereTheModelErrorIsUnknown)
{
    FrontPoint point = certain(100.0, 1.2);
    point.model_low = std::numeric_limits<double>::quiet_NaN();
    const auto done = completions(point, std::nullopt);
    EXPECT_TRUE(std::isnan(done[2].with_error.seconds));
    EXPECT_EQ(done[2].with_error.date, "");
    EXPECT_EQ(&done[2].known(), &done[2].exact);
}

/// The time that is kept with a probability is missed with the rest of it.
TEST(Completion, InvertsTheRisk)
{
    const FrontPoint point = sample_results().front.front();
    for (const double probability : {0.05, 0.5, 0.9, 0.99}) {
        const double seconds = time_kept_with(probability, point);
        EXPECT_NEAR(deadline_risk(point, Seconds{seconds})->mean, 1.0 - probability, 0.006) << probability;
    }
}

}  // namespace
}  // namespace prismopt
