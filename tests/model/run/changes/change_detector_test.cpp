#include "model/run/changes/change_detector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

namespace prismopt {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// A job of 7 s per step: independent noise of 0.8 %, autocorrelated noise of 0.5 % (coefficient 0.5), a
/// daily swing of 1.5 % peak to peak.
class RunningJob {
public:
    explicit RunningJob(std::uint64_t seed) : generator_(seed)
    {
        autocorrelated_ = 0.005 * normal_(generator_);
    }

    double next()
    {
        constexpr double coefficient = 0.5;
        autocorrelated_ = coefficient * autocorrelated_ +
                          0.005 * std::sqrt(1.0 - coefficient * coefficient) * normal_(generator_);
        const double day = 7.0 * static_cast<double>(steps_++) / 86'400.0;
        return 7.0 * std::exp(0.008 * normal_(generator_) + autocorrelated_ +
                              0.0075 * std::sin(2.0 * std::numbers::pi * day + 1.0));
    }

private:
    std::mt19937_64 generator_;
    std::normal_distribution<double> normal_;
    double autocorrelated_ = 0.0;
    std::int64_t steps_ = 0;
};

/// Runs a detector over steps 1 to `steps` whose times are multiplied by `factor(step)`.
ChangeDetector watched(std::uint64_t seed, std::int64_t steps,
                       const std::function<double(std::int64_t)>& factor, ChangeDetectorOptions options = {})
{
    RunningJob job(seed);
    ChangeDetector detector(options);
    for (std::int64_t i = 1; i <= steps; ++i) {
        detector.add({i, factor(i) * job.next(), 1, false});
    }
    return detector;
}

double steady(std::int64_t /*step*/) { return 1.0; }

TEST(ChangeDetector, WaitsForItsBaseline)
{
    const ChangeDetector early = watched(1, 204, steady);
    EXPECT_FALSE(early.baseline());
    EXPECT_EQ(early.collected(), 199);  // without five steps of warm-up
    const ChangeDetector detector = watched(1, 205, steady);
    ASSERT_TRUE(detector.baseline());
    EXPECT_EQ(detector.baseline()->first, 6);
    EXPECT_EQ(detector.baseline()->last, 205);
    EXPECT_NEAR(detector.baseline()->mean_s, 7.0, 7.0 * 0.02);
}

TEST(ChangeDetector, LeavesAQuietJobAlone)
{
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        EXPECT_THAT(watched(seed, 20000, steady).changes(), IsEmpty()) << seed;
    }
}

TEST(ChangeDetector, FindsASlowdownSinceWhenAndByHowMuch)
{
    const ChangeDetector detector = watched(1, 4000, [](std::int64_t i) { return i < 3000 ? 1.0 : 1.03; });
    const std::vector<Change> changes = detector.changes();
    ASSERT_THAT(changes, SizeIs(1));
    EXPECT_EQ(changes[0].kind, ChangeKind::shift);
    EXPECT_NEAR(static_cast<double>(changes[0].since), 3000.0, 5.0);
    EXPECT_LE(changes[0].since_low, 3000);
    EXPECT_GE(changes[0].since_high, 3000);
    EXPECT_LT(changes[0].found, 3020);
    EXPECT_LT(changes[0].low, 0.03);
    EXPECT_GT(changes[0].high, 0.03);
    EXPECT_LT(changes[0].high - changes[0].low, 0.015);
    EXPECT_NEAR(detector.level_s() / detector.baseline()->median_s, 1.03, 0.015);  // and the time of day
}

TEST(ChangeDetector, FindsTheRecoveryToo)
{
    const auto changes =
        watched(2, 6000, [](std::int64_t i) { return i > 2000 && i <= 4000 ? 1.05 : 1.0; }).changes();
    ASSERT_THAT(changes, SizeIs(2));
    EXPECT_NEAR(changes[0].size, 0.05, 0.01);
    EXPECT_NEAR(changes[1].size, -0.05 / 1.05, 0.01);
    EXPECT_NEAR(static_cast<double>(changes[1].since), 4001.0, 3.0);
}

TEST(ChangeDetector, CallsASlowRiseADrift)
{
    // 6 % within 1,400 steps: less than three hours
    const auto changes = watched(3, 2500, [](std::int64_t i) {
                             return 1.0 + 0.06 * std::max(0.0, static_cast<double>(i - 1100)) / 1400.0;
                         }).changes();
    ASSERT_FALSE(changes.empty());
    EXPECT_EQ(changes.front().kind, ChangeKind::drift);
    EXPECT_GT(changes.front().since, 1100);
    EXPECT_LT(changes.front().since, 1600);  // when it has moved by 1 %, and the time of day
    EXPECT_GT(changes.front().size, 0.03);
}

TEST(ChangeDetector, TakesSingleSlowStepsAsSpikes)
{
    const ChangeDetector detector = watched(4, 5000, [](std::int64_t i) { return i % 500 == 0 ? 4.0 : 1.0; });
    EXPECT_THAT(detector.changes(), IsEmpty());
    ASSERT_THAT(detector.spikes(), SizeIs(10));
    EXPECT_EQ(detector.spikes().front().number, 500);
    EXPECT_NEAR(detector.spikes().front().excess, 3.0, 0.2);
}

TEST(ChangeDetector, StartsItsBaselineAgainAfterAWarmUp)
{
    const ChangeDetector detector = watched(5, 400, [](std::int64_t i) { return i <= 60 ? 1.1 : 1.0; });
    ASSERT_TRUE(detector.baseline());
    EXPECT_NEAR(static_cast<double>(detector.baseline()->first), 61.0, 1.0);
    ASSERT_THAT(detector.changes(), SizeIs(1));
    EXPECT_EQ(detector.changes()[0].kind, ChangeKind::warm_up);
    EXPECT_NEAR(detector.changes()[0].size, -0.1 / 1.1, 0.01);
}

TEST(ChangeDetector, FindsARiseWithinTheBaseline)
{
    const ChangeDetector detector = watched(5, 208, [](std::int64_t i) {
        return 1.0 + 0.15 * std::min(1.0, static_cast<double>(i) / 150.0);
    });
    ASSERT_FALSE(detector.changes().empty());
    EXPECT_EQ(detector.changes()[0].kind, ChangeKind::shift);
    EXPECT_GT(detector.changes()[0].size, 0.05);
    EXPECT_NEAR(std::log(detector.level_s() / 7.0), std::log(1.15), 0.02);
}

TEST(ChangeDetector, ExcludesTheFirstStepsAfterARestart)
{
    RunningJob job(6);
    ChangeDetector detector({});
    for (std::int64_t i = 1; i <= 2000; ++i) {
        const bool restarted = i == 1000;
        detector.add({i, (i >= 1000 && i < 1003 ? 5.0 : 1.0) * job.next(), 1, restarted});
    }
    EXPECT_THAT(detector.spikes(), IsEmpty());
    EXPECT_THAT(detector.changes(), IsEmpty());
}

TEST(ChangeDetector, FindsAChangeInStepsThatAreDoneAgain)
{
    RunningJob job(6);
    ChangeDetector detector({});
    for (std::int64_t i = 1; i <= 600; ++i) {
        const std::int64_t number = i < 250 ? i : i - 200;  // a restart goes back to step 50
        detector.add({number, (i >= 300 ? 1.05 : 1.0) * job.next(), 1, i == 250});
    }
    const std::vector<Change> changes = detector.changes();
    ASSERT_THAT(changes, SizeIs(1));
    EXPECT_NEAR(static_cast<double>(changes[0].since), 100.0, 2.0);
    EXPECT_NEAR(changes[0].size, 0.05, 0.01);
}

TEST(ChangeDetector, DoesNotReportChangesBelowTheLeast)
{
    const auto step = [](std::int64_t i) { return i < 3000 ? 1.0 : 1.03; };
    EXPECT_THAT(watched(1, 4000, step, {.least_change = 0.05}).changes(), IsEmpty());
}

TEST(ChangeDetector, FindsTheSameInMeansOverSeveralSteps)
{
    constexpr int interval = 10;
    RunningJob job(7);
    ChangeDetector detector({});
    for (std::int64_t i = interval; i <= 6000; i += interval) {
        double sum = 0.0;
        for (int k = 0; k < interval; ++k) {
            sum += (i > 4000 ? 1.02 : 1.0) * job.next();
        }
        detector.add({i, sum / interval, interval, false});
    }
    ASSERT_TRUE(detector.baseline());
    EXPECT_EQ(detector.baseline()->observations, 50);
    const auto changes = detector.changes();
    ASSERT_THAT(changes, SizeIs(1));
    EXPECT_NEAR(static_cast<double>(changes[0].since), 4010.0, 20.0);
    EXPECT_NEAR(changes[0].size, 0.02, 0.01);
}

/// Autocorrelated step times of 1 s whose logarithms have this standard deviation, multiplied
/// by `factor` from step `at` on.
std::vector<double> autocorrelated(std::uint64_t seed, double coefficient, double deviation, int count,
                                   int at, double factor)
{
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    double value = deviation * normal(generator);
    std::vector<double> seconds;
    for (int i = 1; i <= count; ++i) {
        value =
            coefficient * value + std::sqrt(1.0 - coefficient * coefficient) * deviation * normal(generator);
        seconds.push_back(std::exp(value) * (i >= at ? factor : 1.0));
    }
    return seconds;
}

constexpr std::array<double, 6> all_coefficients{0.0, 0.5, 0.65, 0.8, 0.9, 0.95};

TEST(ChangeDetector, FindsShiftsInAutocorrelatedSteps)
{
    struct Case {
        double factor;
        int within;
    };
    for (const double coefficient : all_coefficients) {
        for (const Case& expected : {Case{1.05, 12}, Case{1.1, 6}, Case{0.95, 12}}) {
            for (std::uint64_t seed = 0; seed < 10; ++seed) {
                ChangeDetector detector({});
                int found = 0;
                int number = 0;
                for (const double seconds :
                     autocorrelated(seed, coefficient, 0.003, 800, 500, expected.factor)) {
                    detector.add({++number, seconds, 1, false});
                    if (found == 0 && number >= 500 && !detector.changes().empty()) {
                        found = number;
                    }
                }
                EXPECT_LE(found - 499, expected.within)
                    << coefficient << " " << expected.factor << " " << seed;
                EXPECT_NEAR(1.0 + detector.level_change(), expected.factor, 0.01)
                    << coefficient << " " << seed;
            }
        }
    }
}

TEST(ChangeDetector, HasNoNewsOfJobsThatWander)
{
    for (const double coefficient : all_coefficients) {
        ChangeDetector detector({});
        int number = 0;
        for (const double seconds : autocorrelated(1, coefficient, 0.005, 20'000, 0, 1.0)) {
            detector.add({++number, seconds, 1, false});
        }
        EXPECT_THAT(detector.changes(), IsEmpty()) << coefficient;
    }
}

TEST(ChangeDetector, NeverShowsALevelThatTheLastStepsContradict)
{
    ChangeDetector detector({.false_alarm_s = 1e15, .least_change = 0.01});
    int number = 0;
    for (const double seconds : autocorrelated(2, 0.5, 0.003, 1000, 0, 1.0)) {
        ++number;
        // The level lags.
        detector.add({number, seconds * (1.0 + 1e-4 * std::max(0, number - 500)), 1, false});
    }
    EXPECT_NEAR(detector.level_s(), 1.05, 0.01);
}

TEST(ChangeDetector, ForecastsWithSingleSlowSteps)
{
    ChangeDetector detector({.swing = 0.0});
    const std::vector<double> times = autocorrelated(3, 0.5, 0.003, 4000, 0, 1.0);
    double sum = 0.0;
    for (int number = 1; number <= 4000; ++number) {
        const double seconds = times[static_cast<std::size_t>(number) - 1] * (number % 100 == 0 ? 3.0 : 1.0);
        sum += number <= 2000 ? 0.0 : seconds;
        if (number <= 2000) {
            detector.add({number, seconds, 1, false});
        }
    }
    EXPECT_NEAR(detector.level_s(), 1.0, 0.002);
    const double error = detector.lasting_error(2000.0);
    EXPECT_LT(std::abs(std::log(sum / 2000.0 / detector.lasting_s())), 3.0 * error);
    EXPECT_NEAR(error, 0.2 * std::sqrt(2.0 / 2000.0), 0.002);  // 1 % of steps with an excess of 2
    EXPECT_GT(detector.lasting_error(20.0), 3.0 * error);
}

/// A step that hangs for an hour is as uncertain as one event is, not as its excess is large.
TEST(ChangeDetector, OneLongHangIsOneEvent)
{
    ChangeDetector detector({});
    int number = 0;
    for (const double seconds : autocorrelated(3, 0.5, 0.003, 1000, 0, 1.0)) {
        ++number;
        detector.add({number, number == 500 ? 3600.0 : seconds, 1, false});
    }
    // Of 1,000 steps, of which five are a warm-up.
    EXPECT_NEAR(detector.lasting_s(), 1.0 + 3600.0 / 995.0, 0.02);
    // Of a mean with one event.
    EXPECT_NEAR(detector.lasting_error(1e9), 3600.0 / 995.0 / (1.0 + 3600.0 / 995.0), 0.05);
}

TEST(ChangeDetector, SizesADriftByAllOfIt)
{
    ChangeDetector detector({});
    int number = 0;
    for (const double seconds : autocorrelated(5, 0.5, 0.003, 3000, 0, 1.0)) {
        ++number;
        detector.add(
            {number, seconds * (1.0 + 0.08 * std::clamp((number - 500) / 2000.0, 0.0, 1.0)), 1, false});
    }
    ASSERT_THAT(detector.changes(), SizeIs(1));
    const Change drift = detector.changes().front();
    EXPECT_EQ(drift.kind, ChangeKind::drift);
    EXPECT_LT(drift.low, 0.08);
    EXPECT_GT(drift.high, 0.08);
    EXPECT_LE(drift.since_low, 500);
    EXPECT_GE(drift.since_high, 500);
    EXPECT_NEAR(detector.lasting_s(), 1.08, 0.005);
}

/// Autocorrelated step times of 6 s, multiplied by `factor(step, share)`, where
/// the share is uniform from 0 to 1.
ChangeDetector watched_mixture(std::uint64_t seed, int steps,
                               const std::function<double(int, double)>& factor)
{
    std::mt19937_64 generator(seed + 100);
    std::uniform_real_distribution<double> uniform;
    ChangeDetector detector({});
    int number = 0;
    for (const double seconds : autocorrelated(seed, 0.5, 0.003, steps, 0, 1.0)) {
        ++number;
        detector.add({number, 6.0 * seconds * factor(number, uniform(generator)), 1, false});
    }
    return detector;
}

constexpr std::array<std::uint64_t, 3> three_seeds{1, 2, 3};

TEST(ChangeDetector, TakesAMixtureOfTwoStepTimesAsNoise)
{
    for (const std::uint64_t seed : three_seeds) {
        const ChangeDetector alternating =
            watched_mixture(seed, 3000, [](int i, double) { return i % 2 == 0 ? 1.5 : 1.0; });
        ASSERT_TRUE(alternating.baseline());
        EXPECT_THAT(alternating.changes(), IsEmpty()) << seed;
        EXPECT_NEAR(alternating.lasting_s(), 7.5, 0.03) << seed;
        for (const double share : {0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9}) {
            for (const double excess : {0.03, 0.1, 0.5, 2.0}) {
                const ChangeDetector detector = watched_mixture(seed, 3000, [&](int, double u) {
                    return u < share ? 1.0 + excess : 1.0;
                });
                ASSERT_TRUE(detector.baseline());
                EXPECT_LE(detector.changes().size(), 1) << seed << " " << share << " " << excess;
                EXPECT_NEAR(detector.lasting_s() / (6.0 * (1.0 + share * excess)), 1.0,
                            3.0 * detector.lasting_error(1e9))
                    << seed << " " << share << " " << excess;
            }
        }
    }
}

TEST(ChangeDetector, FindsAShiftOnTopOfAMixture)
{
    for (const std::uint64_t seed : three_seeds) {
        for (const double share : {0.1, 0.3, 0.5, 0.7}) {
            const ChangeDetector detector = watched_mixture(seed, 3000, [&](int i, double u) {
                return (u < share ? 1.1 : 1.0) * (i >= 1500 ? 1.05 : 1.0);
            });
            ASSERT_THAT(detector.changes(), SizeIs(1)) << seed << " " << share;
            EXPECT_NEAR(static_cast<double>(detector.changes()[0].since), 1500.0, 30.0)
                << seed << " " << share;
            EXPECT_NEAR(detector.changes()[0].size, 0.05, 0.02) << seed << " " << share;
        }
    }
}

TEST(ChangeDetector, ForecastsByTheShareOfSlowStepsOfToday)
{
    for (const std::uint64_t seed : three_seeds) {
        const ChangeDetector detector = watched_mixture(seed, 3000, [](int i, double u) {
            return u < (i < 1500 ? 0.05 : 0.3) ? 1.2 : 1.0;
        });
        EXPECT_LE(detector.changes().size(), 1) << seed;
        EXPECT_NEAR(detector.lasting_s(), 6.36, 0.04) << seed;
    }
}

TEST(ChangeDetector, TakesABlockOfSlowStepsAsOneEvent)
{
    for (const int length : {3, 4, 5, 6, 10, 20}) {
        for (const double excess : {0.1, 2.0}) {
            const ChangeDetector detector = watched_mixture(1, 2000, [&](int i, double) {
                return i >= 1000 && i < 1000 + length ? 1.0 + excess : 1.0;
            });
            EXPECT_THAT(detector.changes(), IsEmpty()) << length << " " << excess;
            EXPECT_NEAR(detector.level_change(), 0.0, 0.002) << length << " " << excess;
            std::int64_t slow = 0;
            for (const Spike& spike : detector.spikes()) {
                slow += spike.steps;
                EXPECT_NEAR(spike.excess, excess, 0.02);
            }
            EXPECT_EQ(slow, length);
            if (length > 3) {
                ASSERT_THAT(detector.spikes(), SizeIs(1)) << length;
                EXPECT_EQ(detector.spikes()[0].number, 999 + length);
            }
            EXPECT_NEAR(detector.lasting_s(), 6.0 * (1.0 + excess * length / 1995.0), 0.01)
                << length << " " << excess;
        }
    }
}

TEST(ChangeDetector, DetectsASlowBlockThatStillLasts)
{
    const ChangeDetector detector =
        watched_mixture(1, 1009, [](int i, double) { return i >= 1000 ? 1.5 : 1.0; });
    ASSERT_THAT(detector.changes(), SizeIs(1));
    EXPECT_EQ(detector.changes()[0].since, 1000);
}

TEST(ChangeDetector, SizesADriftAsTheLevelNow)
{
    for (const std::uint64_t seed : three_seeds) {
        for (const int length : {30, 100, 200, 300, 600, 1000}) {
            for (const double size : {-0.05, 0.05, 0.1}) {
                const ChangeDetector detector = watched_mixture(seed, 4000, [&](int i, double) {
                    return 1.0 + size * std::clamp((i - 1000.0) / length, 0.0, 1.0);
                });
                ASSERT_THAT(detector.changes(), SizeIs(1)) << seed << " " << length << " " << size;
                EXPECT_EQ(detector.changes()[0].kind, ChangeKind::drift);
                EXPECT_NEAR(detector.changes()[0].size, detector.level_change(), 0.003)
                    << seed << " " << length << " " << size;
                EXPECT_LE(detector.changes()[0].since, 1000 + length) << seed << " " << length << " " << size;
            }
        }
    }
}

TEST(ChangeDetector, SpikesSayHowManyStepsTheyAre)
{
    ChangeDetector detector({});
    for (std::int64_t i = 1; i <= 300; ++i) {
        detector.add({10 * i, i == 250 ? 1.2 : 1.0 + 0.001 * static_cast<double>(i % 3), 10, false});
    }
    ASSERT_THAT(detector.spikes(), SizeIs(1));
    EXPECT_EQ(detector.spikes().front().number, 2500);
    EXPECT_EQ(detector.spikes().front().steps, 10);
}

TEST(ChangeDetector, BearsConstantTimes)
{
    ChangeDetector detector({});
    for (std::int64_t i = 1; i <= 1000; ++i) {
        detector.add({i, i < 600 ? 1.5 : 1.6, 1, false});
    }
    ASSERT_THAT(detector.changes(), SizeIs(1));
    EXPECT_EQ(detector.changes()[0].since, 600);
    EXPECT_NEAR(detector.changes()[0].size, 0.1 / 1.5, 0.001);
}

}  // namespace
}  // namespace prismopt
