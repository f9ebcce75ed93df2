#include "search/strategies/exact/incomplete_ranges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(IncompleteRanges, AreDroppedIfLimitsExcludeTheirFloor)
{
    IncompleteRanges ranges;
    ranges.add({.begin = 0, .end = 10}, 4, {{1.0, 3.0}, {3.0, 1.0}});
    ranges.add({.begin = 10, .end = 30}, 5, {{2.0, 2.0}});
    EXPECT_EQ(ranges.points(), 9U);
    std::vector<double> least{2.5, 0.5};
    ranges.lower_to_least(least);
    EXPECT_THAT(least, ElementsAre(1.0, 0.5));

    const std::vector<std::vector<double>> limits{{0.5, 2.5}, {1.5, 1.5}};
    ranges.drop_excluded({});
    EXPECT_EQ(ranges.points(), 9U);
    ranges.drop_excluded(limits);
    EXPECT_EQ(ranges.points(), 4U) << "one member of a floor is not excluded";
}

TEST(IncompleteRanges, AreReturnedInPortions)
{
    IncompleteRanges ranges;
    for (std::uint64_t begin = 0; begin < 1000; begin += 10) {
        ranges.add({.begin = begin, .end = begin + 10}, 1, {{1.0}});
    }
    std::uint64_t next = 0;
    for (const std::uint64_t left : {36, 0}) {  // 64 together
        const std::vector<SweepRange> portion = ranges.next_ranges(1024);
        EXPECT_EQ(portion.size(), left > 0 ? 64U * 8U : 36U * 8U);
        for (const SweepRange& range : portion) {
            EXPECT_EQ(range.begin, next);
            next = range.end;
            EXPECT_TRUE(range.again);
            EXPECT_EQ(range.keep, 1024 / portion.size());
        }
        EXPECT_EQ(ranges.points(), left);
    }
    EXPECT_EQ(next, 1000U);
    EXPECT_THAT(ranges.next_ranges(1), IsEmpty());
}

}  // namespace
}  // namespace prismopt
