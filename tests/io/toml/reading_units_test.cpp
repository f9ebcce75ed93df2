#include "io/toml/reading_units.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace prismopt {
namespace {

TEST(ReadingUnits, OfTimesHaveTwoOrMoreOfAUnit)
{
    EXPECT_EQ(time_text(0.25), "250 ms");
    EXPECT_EQ(time_text(1.0), "1 s");
    EXPECT_EQ(time_text(119.0), "119 s");
    EXPECT_EQ(time_text(120.0), "2 min");
    EXPECT_EQ(time_text(1770.0), "29.5 min");
    EXPECT_EQ(time_text(7199.0, 3), "120 min");
    EXPECT_EQ(time_text(7200.0), "2 h");
    EXPECT_EQ(time_text(86400.0), "24 h");
    EXPECT_EQ(time_text(172800.0), "2 days");
    EXPECT_EQ(time_text(78.3 * 86400.0, 3), "78.3 days");
    EXPECT_EQ(time_text(std::numeric_limits<double>::infinity()), "never");
}

TEST(ReadingUnits, AreTheQuantitysOwnWhereNoneIsKnown)
{
    EXPECT_EQ(reading_unit("1", 5.0).name, "");
    EXPECT_EQ(reading_unit("h", 5.0).name, "h");
    EXPECT_EQ(reading_unit("h", 5.0).size, 1.0);
    EXPECT_EQ(reading_unit("USD", 2.5e6).name, "M USD");
    EXPECT_EQ(reading_unit("B", 8e10).size, 1e9);
}

/// Rows of one quantity stand together, from the largest down to zero: the first that fits is the right one.
TEST(ReadingUnits, GoDownToZero)
{
    const auto rows = reading_rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool last = i + 1 == rows.size() || rows[i + 1].units != rows[i].units;
        EXPECT_TRUE(last ? rows[i].from == 0.0 : rows[i].from > rows[i + 1].from) << rows[i].name;
    }
}

}  // namespace
}  // namespace prismopt
