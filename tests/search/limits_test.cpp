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

}  // namespace
}  // namespace prismopt
