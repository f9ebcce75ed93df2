#include "optimizer/loop/time_left.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace prismopt {
namespace {

constexpr double show_s = 5.0;

TEST(TimeLeft, IsWhatIsLeftOverThePace)
{
    TimeLeft time;
    std::string text;
    for (int show = 0; show <= 20; ++show) text = time.text(show * show_s, static_cast<std::uint64_t>(10'000 - 50 * show));
    EXPECT_EQ(text, "15 min");  // 9,000 left at 10 a second
    EXPECT_EQ(time.text(20 * show_s, 0), "0 s");
}

TEST(TimeLeft, IsUnknownBeforeAnythingCanBeSaid)
{
    TimeLeft time;
    EXPECT_EQ(time.text(0.0, 1000), "unknown");
    EXPECT_EQ(time.text(5.0, 900), "unknown");
    TimeLeft stuck;
    for (int show = 0; show < 40; ++show) EXPECT_EQ(stuck.text(show * show_s, 1000), "unknown");
    TimeLeft growing;  // an evolution finds more to draw than it draws
    for (std::uint64_t show = 0; show < 40; ++show)
        EXPECT_EQ(growing.text(show_s * static_cast<double>(show), 100 + show), "unknown");
}

/// One plan a second of a billion would take decades, about which five minutes say nothing.
TEST(TimeLeft, IsUnknownFarBeyondThePastThatItIsTakenFrom)
{
    TimeLeft time;
    std::string text;
    for (int show = 0; show <= 100; ++show) text = time.text(show * show_s, 1'000'000'000U - 5U * static_cast<unsigned>(show));
    EXPECT_EQ(text, "unknown");
}

/// A limit that excludes nine tenths at once shortens the time by that, and the pace stays what it was.
TEST(TimeLeft, DoesNotTakeAnExclusionForPace)
{
    TimeLeft time;
    std::uint64_t left = 100'000;
    std::string text;
    for (int show = 0; show < 60; ++show) {
        left -= show == 40 ? 90'000 : 10;
        text = time.text(show * show_s, left);
        if (show == 30) {
            EXPECT_EQ(text, "13.8 h");  // 99,690 at 2 a second
        }
    }
    EXPECT_EQ(left, 100'000U - 59U * 10U - 90'000U);
    EXPECT_EQ(text, "78 min");  // 9,410 at 2 a second
}

/// The pace of the last minutes, not that of the beginning.
TEST(TimeLeft, ForgetsOldPaces)
{
    TimeLeft time;
    double left = 1e6;
    std::string text;
    for (int show = 0; show < 400; ++show) {
        left -= show < 200 ? 500.0 : 50.0;
        text = time.text(show * show_s, static_cast<std::uint64_t>(left));
    }
    EXPECT_EQ(text, "24.7 h");  // 890,050 at 10 a second
}

}  // namespace
}  // namespace prismopt
