#include "io/toml/reading_figure.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace prismopt {
namespace {

TEST(ReadingFigure, HasSignificantDigitsWithoutExponents)
{
    EXPECT_EQ(reading_figure(0.0), "0");
    EXPECT_EQ(reading_figure(-0.0), "0");
    EXPECT_EQ(reading_figure(0.04567), "0.0457");
    EXPECT_EQ(reading_figure(4.56e-6), "0.00000456");
    EXPECT_EQ(reading_figure(10.94), "10.9");
    EXPECT_EQ(reading_figure(-200.0), "-200");
    EXPECT_EQ(reading_figure(588.2), "588");
}

/// Rounding may lead to one digit more.
TEST(ReadingFigure, GroupsThousands)
{
    EXPECT_EQ(reading_figure(999.4), "999");
    EXPECT_EQ(reading_figure(999.6), "1,000");
    EXPECT_EQ(reading_figure(1029.0), "1,030");
    EXPECT_EQ(reading_figure(1029.0, 4), "1,029");
    EXPECT_EQ(reading_figure(123'456.0), "123,000");
    EXPECT_EQ(reading_figure(1e8), "100,000,000");
}

TEST(ReadingFigure, OfADifferenceHasItsSignAndNoRoundingError)
{
    EXPECT_EQ(signed_figure(0.312, 2.0), "+0.312");
    EXPECT_EQ(signed_figure(-1029.0, 2.0), "-1,030");
    EXPECT_EQ(signed_figure(4.44e-16, 2.0), "0");
    EXPECT_EQ(signed_figure(-4.44e-16, 2.0), "0");
    EXPECT_EQ(signed_figure(0.0, 0.0), "0");
}

TEST(ReadingFigure, OfAQuantityHasItsUnit)
{
    constexpr double day = 86400.0;
    EXPECT_EQ(reading_quantity(744e3, "USD"), "744 k USD");
    EXPECT_EQ(reading_quantity(1e5 * day, "s"), "100,000 days");
    EXPECT_EQ(reading_quantity(1e14, "USD"), "100,000,000 M USD");
    EXPECT_EQ(reading_quantity(512.0, "1"), "512");
    EXPECT_EQ(reading_quantity(std::numeric_limits<double>::infinity(), "s"), "never");
}

}  // namespace
}  // namespace prismopt
