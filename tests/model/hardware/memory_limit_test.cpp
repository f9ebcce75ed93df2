#include "model/hardware/memory_limit.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

constexpr Bytes memory{80e9};

MemoryLimit limit_of(double headroom, double probability, double bias = 0.0)
{
    return {.headroom = headroom, .probability = probability, .bias = bias, .deviation = 0.06};
}

/// A plan whose predicted peak is what is usable fits as often as not; the standard normal distribution
/// has 84.13 % below one deviation.
TEST(MemoryLimit, ProbabilitiesAreThoseOfTheNormalDistribution)
{
    EXPECT_DOUBLE_EQ(fit_probability(limit_of(0.0, 0.9), memory, memory), 0.5);
    EXPECT_DOUBLE_EQ(fit_probability(limit_of(0.1, 0.9), 0.9 * memory, memory), 0.5);
    EXPECT_NEAR(fit_probability(limit_of(0.0, 0.9), memory * std::exp(-0.06), memory), 0.841345, 1e-6);
    EXPECT_NEAR(fit_probability(limit_of(0.0, 0.9, 0.06), memory, memory), 0.158655, 1e-6);
    EXPECT_NEAR(memory_capacity(limit_of(0.0, 0.9), memory) / memory, std::exp(-0.06 * 1.281551566), 1e-9);
    EXPECT_NEAR(memory_capacity(limit_of(0.0, 0.2), memory) / memory, std::exp(0.06 * 0.841621234), 1e-9);
}

TEST(MemoryLimit, TheCapacityIsTheInverseOfTheProbability)
{
    for (const double headroom : {0.0, 0.05}) {
        for (const double bias : {-0.02, 0.0, 0.03}) {
            for (const double probability : {0.01, 0.2, 0.5, 0.9, 0.99}) {
                const MemoryLimit limit = limit_of(headroom, probability, bias);
                EXPECT_NEAR(fit_probability(limit, memory_capacity(limit, memory), memory), probability,
                            1e-12);
            }
        }
    }
}

/// The distribution is that of the interval: at its ends, 2.5 and 97.5 % of the measured peaks are below.
TEST(MemoryLimit, AgreesWithThePredictionInterval)
{
    const MemoryLimit limit = limit_of(0.0, 0.9, 0.01);
    const PeakInterval interval = interval_of_peak(limit);
    EXPECT_NEAR(fit_probability(limit, memory / interval.high, memory), 0.975, 1e-6);
    EXPECT_NEAR(fit_probability(limit, memory / interval.low, memory), 0.025, 1e-6);
}

TEST(MemoryLimit, WithoutAnErrorTheReserveAloneCounts)
{
    const MemoryLimit exact{.headroom = 0.05, .probability = 0.9};
    EXPECT_DOUBLE_EQ(memory_capacity(exact, memory).si, 76e9);
    EXPECT_EQ(fit_probability(exact, Bytes{76.1e9}, memory), 0.0);
    EXPECT_EQ(fit_probability(exact, Bytes{75.9e9}, memory), 1.0);
    EXPECT_TRUE(std::isinf(memory_capacity(no_memory_limit, memory).si));
    EXPECT_TRUE(std::isinf(memory_capacity(without_limit(limit_of(0.1, 0.9)), memory).si));
}

TEST(MemoryLimit, PlansThatAreListedSeparatelyAreNeverSurer)
{
    EXPECT_EQ(least_limit(limit_of(0.0, 0.9)).probability, least_fit_probability);
    EXPECT_EQ(least_limit(limit_of(0.0, 0.1)).probability, 0.1);
}

}  // namespace
}  // namespace prismopt
