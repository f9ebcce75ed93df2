#include "io/report/front/front_ties.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

FrontPoint member(Estimate time, double gpus, std::uint64_t index = 0)
{
    FrontPoint point;
    point.index = index;
    point.objectives = {time, Estimate::exact(gpus)};
    return point;
}

Estimate within(double value, double half)
{
    return {value, value - half, value + half, value - half, value + half};
}

TEST(FrontTies, AreEqualOrInEachOthersInterval)
{
    EXPECT_TRUE(tie(member(within(100.0, 1.0), 8.0), member(within(100.5, 1.0), 8.0)));
    EXPECT_FALSE(tie(member(within(100.0, 1.0), 8.0), member(within(100.5, 0.1), 8.0)));  // one is sure of it
    EXPECT_FALSE(tie(member(within(100.0, 1.0), 8.0), member(within(102.0, 1.5), 8.0)));
    // Counts have no error.
    EXPECT_FALSE(tie(member(within(100.0, 1.0), 8.0), member(within(100.5, 1.0), 16.0)));
    EXPECT_TRUE(tie(member(Estimate::exact(5.0), 8.0), member(Estimate::exact(5.0), 8.0)));
}

TEST(FrontTies, AreNotSeenWhereDrawsAreTooFew)
{
    Estimate open = within(100.0, 1.0);
    open.high = std::numeric_limits<double>::infinity();
    Estimate other = within(100.5, 1.0);
    other.high = open.high;
    EXPECT_FALSE(tie(member(open, 8.0), member(other, 8.0)));
    EXPECT_TRUE(tie(member(open, 8.0), member(open, 8.0)));
}

TEST(FrontTies, AreNamedByBoth)
{
    const auto found = ties({member(within(100.0, 1.0), 8.0, 7), member(within(100.8, 1.0), 8.0, 5),
                             member(within(101.6, 1.0), 8.0, 6)});
    ASSERT_EQ(found.size(), 3U);
    EXPECT_THAT(found[0], ElementsAre(5));
    EXPECT_THAT(found[1], ElementsAre(7, 6));
    EXPECT_THAT(found[2], ElementsAre(5));
    EXPECT_THAT(ties({}), IsEmpty());
}

}  // namespace
}  // namespace prismopt
