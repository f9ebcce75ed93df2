#include "io/toml/date.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace prismopt {
namespace {

TEST(Date, AcceptsDaysOfTheCalendarOnly)
{
    for (const char* day : {"2000-01-01", "2027-01-15", "2028-02-29", "2199-12-31"}) {
        ASSERT_TRUE(parse_date(day)) << day;
        EXPECT_EQ(date_text(*parse_date(day)), day);
    }
    for (const char* text :
         {"", "2027", "2027-1-15", "2027-02-29", "2027-13-01", "2027-00-10", "2027-01-00", "1999-12-31",
          "2200-01-01", "2027/01/15", "2027-01-15 ", "-027-01-15", "2027-+1-15", "15-01-2027"}) {
        EXPECT_FALSE(parse_date(text)) << text;
    }
}

TEST(Date, ARunEndsOnTheDayInWhichItsTimeIsUp)
{
    const auto start = *parse_date("2027-12-31");
    constexpr double day = 86400.0;
    EXPECT_EQ(end_date(start, 0.0), "2027-12-31");
    EXPECT_EQ(end_date(start, 0.999 * day), "2027-12-31");
    EXPECT_EQ(end_date(start, day), "2028-01-01");
    EXPECT_EQ(end_date(start, 60.5 * day), "2028-02-29");
    EXPECT_EQ(end_date(start, 1e300), "never");
    EXPECT_EQ(end_date(start, std::numeric_limits<double>::quiet_NaN()), "never");
}

}  // namespace
}  // namespace prismopt
