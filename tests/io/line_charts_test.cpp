#include "io/line_charts.hpp"

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

}  // namespace
}  // namespace prismopt
