#include "optimizer/loop/time_left.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace prismopt {
namespace {

constexpr double show_s = 5.0;

TEST(TimeLeft, IsTheRemainderOverThePace)
{
    TimeLeft time;
    std::optional<double> left_s;
    for (int show = 0; show <= 20; ++show) {
        left_s = time.seconds(show * show_s, static_cast<std::uint64_t>(10'000 - 50 * show));
    }
    EXPECT_NEAR(left_s.value(), 900.0, 1e-6);  // 9,000 left at 10 a second
    EXPECT_EQ(time.seconds(20 * show_s, 0), 0.0);
}

TEST(TimeLeft, IsUnknownBeforeAnythingCanBeSaid)
{
    TimeLeft time;
    EXPECT_EQ(time.seconds(0.0, 1000), std::nullopt);
    EXPECT_EQ(time.seconds(5.0, 900), std::nullopt);
    TimeLeft stuck;
    for (int show = 0; show < 40; ++show) {
        EXPECT_EQ(stuck.seconds(show * show_s, 1000), std::nullopt);
    }
    TimeLeft growing;  // an evolution finds more to draw than it draws
    for (std::uint64_t show = 0; show < 40; ++show) {
        EXPECT_EQ(growing.seconds(show_s * static_cast<double>(show), 100 + show), std::nullopt);
    }
}

/// One plan a second of a billion would take decades, about which five minutes say nothing.
TEST(TimeLeft, IsUnknownFarBeyondThePastThatItIsTakenFrom)
{
    TimeLeft time;
    std::optional<double> left_s;
    for (int show = 0; show <= 100; ++show) {
        left_s = time.seconds(show * show_s, 1'000'000'000U - 5U * static_cast<unsigned>(show));
    }
    EXPECT_EQ(left_s, std::nullopt);
}

/// A limit that excludes most at once shortens the time by that, and the pace stays what it was.
TEST(TimeLeft, DoesNotCountAnExclusionAsPace)
{
    TimeLeft time;
    std::uint64_t left = 5000;
    std::optional<double> left_s;
    for (int show = 0; show < 60; ++show) {
        left -= show == 40 ? 4000 : 10;
        left_s = time.seconds(show * show_s, left);
        if (show == 30) {
            EXPECT_NEAR(left_s.value(), 2345.0, 1.0);  // 4,690 at 2 a second
        }
    }
    EXPECT_EQ(left, 5000U - 59U * 10U - 4000U);
    EXPECT_NEAR(left_s.value(), 205.0, 1.0);  // 410 at 2 a second
}

/// Half of the time nothing, half of the time much: no pace to extrapolate.
TEST(TimeLeft, IsUnknownWithoutASteadyPace)
{
    TimeLeft time;
    std::uint64_t left = 10'000;
    std::optional<double> left_s;
    for (int show = 0; show < 60; ++show) {
        left -= show % 20 < 10 ? 0 : 100;
        left_s = time.seconds(show * show_s, left);
    }
    EXPECT_EQ(left_s, std::nullopt);
}

/// The pace of the last minutes, not that of the beginning.
TEST(TimeLeft, ForgetsOldPaces)
{
    TimeLeft time;
    double left = 150e3;
    std::optional<double> left_s;
    for (int show = 0; show < 400; ++show) {
        left -= show < 200 ? 500.0 : 50.0;
        left_s = time.seconds(show * show_s, static_cast<std::uint64_t>(left));
    }
    EXPECT_NEAR(left_s.value(), 4000.0, 1.0);  // 40,000 at 10 a second
}

}  // namespace
}  // namespace prismopt
