#include "io/plots/line_charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Lowest values lie on the axis (y = 340), highest 290 above it; the geometric mean halfway where the scale is logarithmic.
TEST(LineCharts, PlaceValuesBetweenTheLowestAndTheHighest)
{
    const double left_out = std::numeric_limits<double>::quiet_NaN();
    const Chart chart{
        "title", {"1", "2", "3"}, {{"plain", {1.0, 10.0, 100.0}}, {"with a gap", {100.0, left_out, 1.0}, true}}, true};
    const std::string svg = charts_svg({chart});
    EXPECT_THAT(svg, HasSubstr("points=\"60.0,340.0 230.0,195.0 400.0,50.0 \""));
    EXPECT_THAT(svg, HasSubstr("points=\"60.0,50.0 400.0,340.0 \""));
    EXPECT_THAT(svg, HasSubstr("stroke-dasharray=\"5 3\""));
    EXPECT_THAT(svg, HasSubstr(">with a gap</text>"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

std::size_t times(const std::string& text, const std::string& part)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

TEST(LineCharts, ShareALegendWhereTheyNameTheSameLines)
{
    const auto chart = [](const char* line) { return Chart{"title", {"1", "2"}, {{line, {1.0, 2.0}}}}; };
    EXPECT_EQ(times(charts_svg({chart("a"), chart("a")}), ">a</text>"), 1U);
    const std::string apart = charts_svg({chart("a"), chart("b")});
    EXPECT_EQ(times(apart, ">a</text>"), 1U);
    EXPECT_EQ(times(apart, ">b</text>"), 1U);
}

}  // namespace
}  // namespace prismopt
