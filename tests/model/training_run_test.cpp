#include "model/training_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {
namespace {

QuantileTable exponential()
{
    return QuantileTable([](double p, bool upper) { return upper ? -std::log(p) : -std::log1p(-p); });
}

constexpr double minute = 60.0;
constexpr double hour = 3600.0;
constexpr double day = 86400.0;

/// Kokolis et al., arXiv 2410.21680: 16,384 GPUs in 2,048 nodes, 6.50 failures per 1,000 node-days, 5 minutes to restart, writes that cost nothing.
FailureModel published(double interval_s)
{
    return failure_model({PerSecond{6.5e-3 / day}, Seconds{5 * minute}, Seconds{interval_s}, Seconds{0.0}}, 2048);
}

struct Simulated {
    double mean;
    double error;  // standard error of the mean
};
Simulated simulate(double productive_s, const FailureModel& model, int fleets)
{
    const QuantileTable table = exponential();
    double sum = 0.0;
    double squares = 0.0;
    for (int f = 0; f < fleets; ++f) {
        const double t = sampled_training_time(productive_s, model, table, 1, Purpose::search, static_cast<std::uint32_t>(f));
        sum += t;
        squares += t * t;
    }
    const double mean = sum / fleets;
    return {mean, std::sqrt((squares / fleets - mean * mean) / fleets)};
}

/// Mean time between failures 1.80 h at 16,384 GPUs; effective training time ratio by exact renewal 0.715 with a checkpoint
/// an hour. With one every 5 minutes the first-order form, 0.931, is nearly exact.
TEST(TrainingTime, GivesThePublishedRatios)
{
    EXPECT_NEAR(1.0 / published(hour).rate / hour, 1.80, 0.005);
    const double productive = 1000.0 * hour;
    EXPECT_NEAR(productive / expected_training_time(productive, published(hour)), 0.715, 0.0005);
    EXPECT_NEAR(productive / expected_training_time(productive, published(5 * minute)), 0.931, 0.004);
    const Simulated hourly = simulate(productive, published(hour), 400);
    EXPECT_NEAR(productive / hourly.mean, 0.715, 0.0005 + 4.0 * 0.715 * hourly.error / hourly.mean);
}

TEST(TrainingTime, ExpectedIsTheMeanOfManyHistories)
{
    for (const double write : {0.0, 60.0, 600.0}) {
        for (const double interval : {0.2 * hour, hour, 3 * hour}) {
            const FailureModel model{1.0 / (4 * hour), 10 * minute, interval, write};
            const double productive = 20 * interval + 1.0;  // a last part too short to fail
            const Simulated s = simulate(productive, model, 4000);
            // The table of gaps errs by less than 2e-4 of their mean.
            EXPECT_NEAR(s.mean, expected_training_time(productive, model), 4.0 * s.error + 2e-4 * s.mean)
                << write << " " << interval;
        }
    }
}

/// A bound that prunes must not exceed the mean, whatever is left after the last whole interval; a run that ends on a
/// checkpoint's hour does not wait for that checkpoint.
TEST(TrainingTime, ExpectedNeverExceedsTheMean)
{
    for (const double rate : {0.0, 1.0 / (8 * hour), 1.0 / hour}) {
        for (const double intervals : {0.3, 1.0, 1.5, 2.0, 7.0, 7.9}) {
            const FailureModel model{rate, 5 * minute, hour, 10 * minute};
            const Simulated s = simulate(intervals * hour, model, 2000);
            EXPECT_LE(expected_training_time(intervals * hour, model), s.mean + 4.0 * s.error) << rate << " " << intervals;
        }
    }
}

TEST(TrainingTime, WithoutFailuresIsWorkAndWrites)
{
    const FailureModel model{0.0, 5 * minute, hour, minute};
    const QuantileTable table = exponential();
    for (const double hours : {0.5, 1.0, 2.5, 10.0}) {
        const double writes = std::ceil(hours) - 1.0;  // none after the end
        EXPECT_NEAR(expected_training_time(hours * hour, model), hours * hour + writes * minute, 1e-6) << hours;
        EXPECT_NEAR(sampled_training_time(hours * hour, model, table, 1, Purpose::search, 0), hours * hour + writes * minute,
                    1e-6);
    }
}

/// Young's interval is first order: within a few percent of the best when writes are short beside the time between failures.
TEST(TrainingTime, YoungsIntervalIsNearTheBest)
{
    const Reliability reliability{PerSecond{1e-3 / day}, Seconds{10 * minute}, Seconds{0.0}, Seconds{30.0}};
    const FailureModel young = failure_model(reliability, 1000);
    EXPECT_NEAR(young.checkpoint_interval_s, std::sqrt(2.0 * 30.0 * day), 1e-6);  // one failure a day
    const double productive = 1e8;
    const double found = expected_training_time(productive, young);
    double best = std::numeric_limits<double>::infinity();
    for (int i = -80; i <= 80; ++i) {
        FailureModel other = young;
        other.checkpoint_interval_s *= std::pow(1.02, i);
        best = std::min(best, expected_training_time(productive, other));
    }
    EXPECT_LT(found, best * 1.0005);
    for (const double factor : {0.5, 2.0}) {
        FailureModel other = young;
        other.checkpoint_interval_s *= factor;
        EXPECT_GT(expected_training_time(productive, other), found * 1.002) << factor;
    }
}

/// No interval, no failures: no checkpoints. Free writes: as many as one likes, and the time stays finite.
TEST(FailureModel, OfYoungHoldsAtItsLimits)
{
    const FailureModel never = failure_model({PerSecond{0.0}, Seconds{600.0}, Seconds{0.0}, Seconds{30.0}}, 1000);
    EXPECT_EQ(expected_training_time(1e6, never), 1e6);
    EXPECT_EQ(sampled_training_time(1e6, never, exponential(), 1, Purpose::search, 0), 1e6);
    EXPECT_FALSE(never.hopeless());

    const FailureModel free = failure_model({PerSecond{1e-3 / day}, Seconds{600.0}, Seconds{0.0}, Seconds{0.0}}, 1000);
    const double restarts_only = 1e6 * (1.0 + 600.0 / day);  // one failure a day loses its restart and nothing else
    EXPECT_NEAR(expected_training_time(1e6, free), restarts_only, 1e-4 * restarts_only);
    const Simulated s = simulate(1e6, free, 2000);
    EXPECT_NEAR(s.mean, restarts_only, 1e-4 * restarts_only + 4.0 * s.error);
}

TEST(FailureModel, KnowsWhenARunNeverEnds)
{
    EXPECT_FALSE((FailureModel{1.0 / hour, 60.0, hour, 0.0}).hopeless());
    EXPECT_TRUE((FailureModel{10.0 / hour, 60.0, hour, 0.0}).hopeless());
    EXPECT_TRUE((FailureModel{1.0 / hour, 60.0, hour, 9 * hour}).hopeless());
}

/// Luck is keyed by fleet and failure: a longer run meets the same failures first.
TEST(TrainingTime, DesignsShareTheirLuck)
{
    const FailureModel model{1.0 / hour, 0.0, 0.1 * hour, 0.0};
    const QuantileTable table = exponential();
    const auto time = [&](double productive, Purpose purpose, std::uint32_t fleet) {
        return sampled_training_time(productive, model, table, 1, purpose, fleet);
    };
    EXPECT_EQ(time(100 * hour, Purpose::search, 3), time(100 * hour, Purpose::search, 3));
    EXPECT_NE(time(100 * hour, Purpose::search, 3), time(100 * hour, Purpose::search, 4));
    EXPECT_NE(time(100 * hour, Purpose::search, 3), time(100 * hour, Purpose::confirm, 3));
    for (std::uint32_t fleet = 0; fleet < 50; ++fleet) {
        EXPECT_LE(time(100 * hour, Purpose::search, fleet) + 0.9 * hour, time(101 * hour, Purpose::search, fleet));
    }
}

}  // namespace
}  // namespace prismopt
