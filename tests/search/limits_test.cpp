#include "search/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace prismopt {
namespace {

using testing::ElementsAre;

TEST(Limits, RuleOutWhatTheyDominate)
{
    Limits limits;
    limits.add(7, {2.0, 2.0});
    EXPECT_TRUE(limits.rule_out(1, std::vector{2.0, 3.0}, 0));
    EXPECT_FALSE(limits.rule_out(1, std::vector{2.0, 2.0}, 0));  // a tie is no proof
    EXPECT_FALSE(limits.rule_out(1, std::vector{1.0, 9.0}, 0));
    EXPECT_FALSE(limits.rule_out(7, std::vector{2.0, 3.0}, 0));  // nobody rules out himself
}

TEST(Limits, TestOnlyWhatIsNewerWhenAsked)
{
    Limits limits;
    limits.add(1, {2.0, 2.0});
    const std::uint64_t before = limits.newest();
    EXPECT_FALSE(limits.rule_out(9, std::vector{3.0, 3.0}, before));
    limits.add(2, {1.0, 2.5});
    EXPECT_TRUE(limits.rule_out(9, std::vector{3.0, 3.0}, before));
    EXPECT_FALSE(limits.rule_out(9, std::vector{3.0, 2.2}, before));
}

TEST(Limits, KeepOnlyFiniteOnesThatAddSomething)
{
    Limits limits;
    limits.add(1, {1.0, std::numeric_limits<double>::infinity()});
    EXPECT_EQ(limits.newest(), 0U);
    limits.add(2, {3.0, 3.0});
    limits.add(3, {3.0, 4.0});
    limits.add(4, {3.0, 3.0});
    EXPECT_EQ(limits.newest(), 1U);
    limits.add(5, {2.0, 5.0});
    limits.add(6, {3.0, 1.0});
    EXPECT_THAT(limits.sorted(), ElementsAre(std::vector{2.0, 5.0}, std::vector{3.0, 1.0}));
}

/// Each point against the limit that excludes it after the smallest relative change.
TEST(Limits, KnowTheOwnerOfTheNearest)
{
    Limits limits;
    limits.add(7, {10.0, 40.0});
    limits.add(8, {20.0, 30.0});
    limits.add(9, {1000.0, 1.0});
    EXPECT_EQ(limits.nearest(std::vector{9.0, 41.0}).owner, 7U);  // 10 % of the first objective, against 55 %
    EXPECT_EQ(limits.nearest(std::vector{19.0, 29.0}).owner, 8U);  // 5 % and 3 %
    // 27.5 % of the second objective, against 55 % of the first.
    EXPECT_EQ(limits.nearest(std::vector{9.0, 29.0}).owner, 7U);
    EXPECT_EQ(limits.nearest(std::vector{999.0, 0.9}).owner, 9U);
    EXPECT_DOUBLE_EQ(limits.nearest(std::vector{9.0, 29.0}).excess, 0.275);
    EXPECT_EQ(limits.nearest(std::vector{25.0, 35.0}).owner, 8U) << "excluded already";
    EXPECT_EQ(limits.nearest(std::vector{25.0, 35.0}).excess, 0.0);
}

}  // namespace
}  // namespace prismopt
