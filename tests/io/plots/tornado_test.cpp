#include "io/plots/tornado.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The scale goes from -1.1 to 1.1 times the longest bar, over 520 units from 230 on:
/// zero at 490, a unit 236.4 long.
TEST(Tornado, DrawsBarsToBothSidesOfZero)
{
    const std::string svg =
        tornado_svg({{"panel", {{"down", -1.0, -1.0, -0.5}, {"up", 1.0, 0.5, 1.0}}}}, "change, %");
    EXPECT_THAT(svg, HasSubstr("<rect x=\"253.6\" y=\"34.0\" width=\"236.4\""));
    EXPECT_THAT(svg, HasSubstr("<rect x=\"490.0\" y=\"54.0\" width=\"236.4\""));
    EXPECT_THAT(svg, HasSubstr("M253.6 41.0H371.8"));  // whisker from -1 to -0.5
    EXPECT_THAT(svg, HasSubstr(">change, %</text>"));
}

TEST(Tornado, OmitsWhatIsNotKnown)
{
    const double unknown = std::numeric_limits<double>::infinity();
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    const std::string svg = tornado_svg(
        {{"a < b & c", {{"no limits", 1.0, -unknown, unknown}, {"no value", nothing, nothing, nothing}}}},
        "s");
    EXPECT_THAT(svg, HasSubstr(">no limits</text>"));
    EXPECT_THAT(svg, Not(HasSubstr("no value")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
}

}  // namespace
}  // namespace prismopt
