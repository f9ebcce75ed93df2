#include "model/calibration/fit/goodness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace prismopt {
namespace {

TEST(Goodness, DistanceToADistribution)
{
    const std::vector<double> rising{0.1, 0.4, 0.7};
    // Uniform distribution: largest at 0.7, where 0.3 are above and no value.
    EXPECT_NEAR(ks_distance(rising, [](double x) { return x; }), 0.3, 1e-12);
}

TEST(Goodness, DistanceOfTwoSamples)
{
    EXPECT_NEAR(ks_distance(std::vector{1.0, 2.0, 3.0}, std::vector{1.0, 2.0, 3.0}), 0.0, 1e-12);
    EXPECT_NEAR(ks_distance(std::vector{1.0, 2.0}, std::vector{3.0, 4.0}), 1.0, 1e-12);
    EXPECT_NEAR(ks_distance(std::vector{1.0, 3.0}, std::vector{2.0, 4.0}), 0.5, 1e-12);
}

/// Critical values of the two-sided test at 5 %: tables in Smirnov (1948), Miller (1956).
TEST(Goodness, CriticalDistances)
{
    EXPECT_NEAR(ks_probability(0.40925, 10.0), 0.05, 0.002);
    EXPECT_NEAR(ks_probability(0.13403, 100.0), 0.05, 0.002);
    EXPECT_NEAR(ks_probability(0.0, 10.0), 1.0, 1e-12);
}

TEST(Otsu, SeparatesTwoGroups)
{
    const Otsu split = otsu({1.0, 1.1, 0.9, 5.0, 5.2, 4.9, 1.05});
    EXPECT_GT(split.threshold, 1.1);
    EXPECT_LT(split.threshold, 4.9);
    EXPECT_GT(split.separation, 0.95);
    EXPECT_NEAR(split.low_mean, 1.0125, 1e-9);
}

/// Uniform distribution: the middle, with three quarters of the variance between the halves.
TEST(Otsu, OfAUniformDistribution)
{
    std::vector<double> values(10'001);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<double>(i) / 10'000.0;
    }
    const Otsu split = otsu(values);
    EXPECT_NEAR(split.threshold, 0.5, 1e-3);
    EXPECT_NEAR(split.separation, 0.75, 1e-3);
}

TEST(Steady, ABeginningIsCutOff)
{
    std::vector<double> series{3.0, 2.5, 2.0, 1.5};
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal(1.0, 0.01);
    for (int i = 0; i < 40; ++i) {
        series.push_back(normal(generator));
    }
    EXPECT_EQ(steady_from(series), 4U);
}

/// At most 5 % lose anything, by construction; 26 of 300 would be three standard errors more.
TEST(Steady, SteadySeriesLoseNothingMostOfTheTime)
{
    std::mt19937_64 generator(2);
    std::normal_distribution<double> normal;
    for (const std::size_t length : {10U, 40U, 200U}) {
        for (const double memory : {0.0, 0.9}) {
            int cut = 0;
            for (int repeat = 0; repeat < 300; ++repeat) {
                std::vector<double> series;
                double value = normal(generator);
                for (std::size_t i = 0; i < length; ++i) {
                    series.push_back(std::exp(0.05 * value));
                    value = memory * value + std::sqrt(1.0 - memory * memory) * normal(generator);
                }
                cut += steady_from(series) > 0 ? 1 : 0;
            }
            // A memory of 19 values is not fully seen in 10 or 40: a slow wave looks like a beginning.
            EXPECT_LE(cut, memory == 0.0 ? 26 : 100) << length << " values, memory " << memory;
        }
    }
}

/// A tenth longer for ten steps, with 5 % of noise: found where there is enough to compare it with.
TEST(Steady, ASlowBeginningIsCutOffWhereItShows)
{
    std::mt19937_64 generator(3);
    std::normal_distribution<double> normal;
    int near = 0;
    for (int repeat = 0; repeat < 100; ++repeat) {
        std::vector<double> series;
        for (int i = 0; i < 100; ++i) {
            series.push_back((i < 10 ? 1.1 : 1.0) * std::exp(0.03 * normal(generator)));
        }
        const std::size_t first = steady_from(series);
        near += first >= 7 && first <= 15 ? 1 : 0;
    }
    EXPECT_GE(near, 90);
}

/// Times of a hundredth of noise, a beginning half as long again, and a line.
std::vector<double> times_of(std::size_t count, std::size_t warm_up, double trend, double noise,
                             unsigned seed)
{
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> series;
    for (std::size_t i = 0; i < count; ++i) {
        series.push_back((i < warm_up ? 1.5 : 1.0) *
                         (1.0 + trend * static_cast<double>(i) / static_cast<double>(count)) *
                         std::exp(noise * normal(generator)));
    }
    return series;
}

TEST(Steady, AWarmUpIsFoundWithAndWithoutATrend)
{
    for (const std::size_t warm_up : {3U, 10U}) {
        for (const std::size_t count : {40U, 100U, 300U, 1000U}) {
            for (const double trend : {0.0, 0.02}) {
                int found = 0;
                for (unsigned seed = 0; seed < 20; ++seed) {
                    const std::size_t first = steady_from(times_of(count, warm_up, trend, 0.01, seed));
                    EXPECT_GE(first, warm_up);
                    found += first <= warm_up + 2 ? 1 : 0;
                }
                EXPECT_GE(found, 17) << warm_up << " of " << count << ", trend " << trend;
            }
        }
    }
}

/// Of 20 series of each length at most one in twenty loses more than a twentieth: 8 of 80
/// would be two standard errors more.
TEST(Steady, NothingIsLostToATrendNorWithoutOne)
{
    for (const double trend : {0.0, 0.02, 0.1}) {
        for (const double noise : {0.003, 0.01}) {
            int lost = 0;
            for (const std::size_t count : {20U, 100U, 300U, 1000U}) {
                for (unsigned seed = 0; seed < 20; ++seed) {
                    const std::vector<double> series = times_of(count, 0, trend, noise, 100 + seed);
                    lost +=
                        static_cast<double>(steady_from(series)) > 0.05 * static_cast<double>(count) ? 1 : 0;
                }
            }
            EXPECT_LE(lost, 8) << "trend " << trend << ", noise " << noise;
        }
    }
}

TEST(Trend, IsFoundWhereItIs)
{
    int detected = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        const Trend trend = trend_of(times_of(100, 0, 0.02, 0.01, seed));
        EXPECT_TRUE(trend.present);
        // Of least squares: sd sqrt(12 / n) over the whole series; Sen's slope is as good to 5 %.
        EXPECT_NEAR(trend.change, 0.02, 4.2 * 0.01 * std::sqrt(12.0 / 100.0));
        detected += trend_of(times_of(100, 0, 0.0, 0.01, 50 + seed)).present ? 1 : 0;
    }
    EXPECT_EQ(detected, 0);
}

TEST(Steady, AFirstValueFarOffIsCutOffAShortSeries)
{
    EXPECT_EQ(steady_from(std::vector{9.0, 1.0, 1.1, 0.9, 1.05, 1.0, 0.95, 1.02, 1.0, 0.98}), 1U);
}

}  // namespace
}  // namespace prismopt
