#include "model/calibration/posterior/memory_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace prismopt {
namespace {

struct Moments {
    double mean = 0.0;
    double deviation = 0.0;
};

Moments moments_of(const std::vector<double>& values)
{
    Moments result;
    for (const double value : values) {
        result.mean += value / static_cast<double>(values.size());
    }
    for (const double value : values) {
        result.deviation +=
            (value - result.mean) * (value - result.mean) / static_cast<double>(values.size());
    }
    result.deviation = std::sqrt(result.deviation);
    return result;
}

constexpr std::size_t count = 20000;

TEST(MemoryError, MovesWithAMeasuredPeakAsNormalNumbersDo)
{
    const MemoryError moved =
        after({.mean = 0.0, .deviation = 0.1, .own = 0.03, .ran = {}, .failed = {}}, 0.06, 0.04);
    EXPECT_DOUBLE_EQ(moved.mean, 0.06 * 0.01 / (0.01 + 0.0025));
    EXPECT_NEAR(moved.deviation, std::sqrt(0.01 * 0.0025 / (0.01 + 0.0025)), 1e-15);
    EXPECT_NEAR(surprise({.mean = 0.01, .deviation = 0.1, .own = 0.03, .ran = {}, .failed = {}}, 0.06, 0.04),
                0.05 / std::sqrt(0.0125), 1e-12);
}

/// Many measured peaks contain no information about another plan's own error.
TEST(MemoryError, OwnErrorsStay)
{
    MemoryError error{.mean = 0.0, .deviation = 0.1, .own = 0.05, .ran = {}, .failed = {}};
    for (int i = 0; i < 1000; ++i) {
        error = after(error, 0.02, 0.02);
    }
    EXPECT_LT(error.deviation, 0.002);
    std::vector<double> own;
    for (std::size_t d = 0; d < count; ++d) {
        own.push_back(draw_own(error, 3, d, 4));
    }
    const Moments found = moments_of(own);
    EXPECT_NEAR(found.mean, 0.0, 4.0 * 0.05 / std::sqrt(count));
    EXPECT_NEAR(found.deviation, 0.05, 4.0 * 0.05 / std::sqrt(2.0 * count));
    EXPECT_NE(draw_own(error, 0, 0, 4), draw_own(error, 1, 0, 4));
}

/// Against rejection: common and own errors are drawn, and kept if what was seen of each plan happens.
TEST(MemoryError, FollowsWhatHappenedToPlans)
{
    const MemoryError error{
        .mean = 0.02, .deviation = 0.1, .own = 0.05, .ran = {0.15, 0.1}, .failed = {0.05}};
    std::mt19937_64 generator(5);
    std::normal_distribution<double> standard;
    std::vector<double> kept;
    while (kept.size() < count) {
        const double common = error.mean + error.deviation * standard(generator);
        const auto value = [&] { return common + error.own * standard(generator); };
        const bool first = value() < 0.15;
        const bool second = value() < 0.1;
        const bool third = value() > 0.05;
        if (first && second && third) {
            kept.push_back(common);
        }
    }
    const Moments expected = moments_of(kept);
    const Moments found = moments_of(draw(error, count, 4));
    EXPECT_NEAR(found.mean, expected.mean, 4.0 * expected.deviation * std::sqrt(2.0 / count));
    EXPECT_NEAR(found.deviation, expected.deviation, 4.0 * expected.deviation / std::sqrt(count));
}

TEST(MemoryError, IsNormalBeforeAnythingWasTried)
{
    const Moments found =
        moments_of(draw({.mean = 0.02, .deviation = 0.1, .own = 0.05, .ran = {}, .failed = {}}, count, 4));
    EXPECT_NEAR(found.mean, 0.02, 4.0 * 0.1 / std::sqrt(count));
    EXPECT_NEAR(found.deviation, 0.1, 4.0 * 0.1 / std::sqrt(2.0 * count));
}

/// A plan that needs 60 % of the memory by its prediction, or far less, ran out of memory: surprising, but
/// known. Far from the prior, the common and the own error share the excess by their variances.
TEST(MemoryError, FollowsWhatWasNotExpected)
{
    for (const double limit : {0.5, 3.0, 30.0}) {
        const double share = 0.09 * 0.09 / (0.09 * 0.09 + 0.05 * 0.05);
        const Moments up = moments_of(
            draw({.mean = 0.0, .deviation = 0.09, .own = 0.05, .ran = {}, .failed = {limit}}, count, 4));
        EXPECT_NEAR(up.mean / (share * limit), 1.0, 0.05);
        const Moments down = moments_of(
            draw({.mean = 0.0, .deviation = 0.09, .own = 0.05, .ran = {-limit}, .failed = {}}, count, 4));
        EXPECT_NEAR(down.mean / (share * -limit), 1.0, 0.05);
    }
}

/// One plan ran, and one of less predicted memory did not: their own errors explain it.
TEST(MemoryError, OneOfSeveralMayContradictTheOthers)
{
    const Moments found = moments_of(
        draw({.mean = 0.0, .deviation = 0.09, .own = 0.05, .ran = {-0.1}, .failed = {0.1}}, count, 4));
    EXPECT_NEAR(found.mean, 0.0, 0.01);
    EXPECT_LT(found.deviation, 0.09);
}

}  // namespace
}  // namespace prismopt
