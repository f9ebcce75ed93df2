#include "model/base/root.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace prismopt {
namespace {

constexpr auto geometric = Bisection::Middle::geometric;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(RootBetween, RefusesWhatDoesNotBracketARoot)
{
    const auto line = [](double x) { return x - 0.25; };
    EXPECT_NEAR(root_between(line, 0.0, 1.0, 50).value(), 0.25, 1e-14);
    EXPECT_NEAR(root_between([](double x) { return 0.25 - x; }, 0.0, 1.0, 50).value(), 0.25, 1e-14);
    EXPECT_EQ(root_between(line, 0.25, 1.0, 50).value(), 0.25);
    EXPECT_FALSE(root_between(line, 0.5, 1.0, 50));
    EXPECT_FALSE(root_between(line, 1.0, 0.0, 50));
    EXPECT_FALSE(root_between(line, -infinity, 1.0, 50));
    EXPECT_FALSE(root_between(line, 0.0, infinity, 50));
    EXPECT_FALSE(root_between([](double) { return std::nan(""); }, 0.0, 1.0, 50));
    EXPECT_NEAR(root_between([](double x) { return x - 1e-300; }, 0.0, 1.0, 50).value() * 1e300, 1.0, 1e-12);
}

TEST(Bisect, HalvesAsOftenAsTheRuleSays)
{
    std::vector<double> tested;
    const Bracket found = bisect({0.0, 8.0}, {.halvings = 3}, [&](double x) {
        tested.push_back(x);
        return x < 5.5;
    });
    EXPECT_EQ(tested, (std::vector{4.0, 6.0, 5.0}));
    EXPECT_EQ(found.low, 5.0);
    EXPECT_EQ(found.high, 6.0);
    EXPECT_EQ(found.middle(), 5.5);
}

TEST(Bisect, WithoutHalvingsReturnsTheBracket)
{
    const Bracket found = bisect({1.0, 2.0}, {.halvings = 0}, [](double) { return true; });
    EXPECT_EQ(found.low, 1.0);
    EXPECT_EQ(found.high, 2.0);
}

TEST(Bisect, MovesOnlyOneEndWhereTheConditionNeverChanges)
{
    const Bracket always = bisect({0.0, 1.0}, {.halvings = 10}, [](double) { return true; });
    EXPECT_EQ(always.low, 1.0 - std::exp2(-10));
    EXPECT_EQ(always.high, 1.0);
    const Bracket never = bisect({0.0, 1.0}, {.halvings = 10}, [](double) { return false; });
    EXPECT_EQ(never.low, 0.0);
    EXPECT_EQ(never.high, std::exp2(-10));
}

TEST(Bisect, StopsAtAnAbsoluteWidth)
{
    const auto below = [](double x) { return x < 700.0; };
    const Bracket found = bisect({0.0, 1024.0}, {.width = 8.0}, below);
    EXPECT_EQ(found.high - found.low, 8.0);
    EXPECT_LT(found.low, 700.0);
    EXPECT_GE(found.high, 700.0);
}

TEST(Bisect, StopsAtARelativeWidthOfTheHighEnd)
{
    const auto below = [](double x) { return x < 1e-20; };
    const Bracket found = bisect({0.0, 1.0}, {.relative_width = 1e-6}, below);
    EXPECT_LE(found.high - found.low, 1e-6 * found.high);
    EXPECT_GE(2.0 * (found.high - found.low), 1e-6 * found.high);
    EXPECT_NEAR(found.high, 1e-20, 1e-26);
}

TEST(Bisect, OfWidthZeroTestsNothing)
{
    const auto fails = [](double) {
        ADD_FAILURE();
        return true;
    };
    EXPECT_EQ(bisect({3.0, 3.0}, {}, fails).middle(), 3.0);
    EXPECT_EQ(bisect({3.0, 3.0}, {.halvings = 5, .middle = geometric}, fails).middle(), 3.0);
}

TEST(Bisect, ByDefaultEndsAtNeighbouringNumbers)
{
    const auto below = [](double x) { return x * x < 2.0; };
    const Bracket root = bisect({0.0, 2.0}, {}, below);
    EXPECT_EQ(root.high, std::nextafter(root.low, 2.0));
    EXPECT_TRUE(below(root.low));
    EXPECT_FALSE(below(root.high));
    const Bracket least = bisect({0.0, 1.0}, {}, [](double) { return false; });
    EXPECT_EQ(least.high, 0.0);
}

TEST(Bisect, DividesAtTheGeometricMiddle)
{
    std::vector<double> tested;
    const Bracket found = bisect({1.0, 256.0}, {.halvings = 3, .middle = geometric}, [&](double x) {
        tested.push_back(x);
        return x < 10.0;
    });
    EXPECT_EQ(tested, (std::vector{16.0, 4.0, 8.0}));
    EXPECT_EQ(found.low, 8.0);
    EXPECT_EQ(found.high, 16.0);
}

/// The condition holds for large numbers: `high` is then the smaller end, and may be negative.
TEST(Bisect, FindsAConditionThatHoldsAbove)
{
    const auto above = [](double x) { return x > -3.0; };
    const Bracket counted = bisect({0.0, -4.0}, {.halvings = 2}, above);
    EXPECT_EQ(counted.low, -2.0);
    EXPECT_EQ(counted.high, -3.0);
    const Bracket narrow = bisect({0.0, -4.0}, {.relative_width = 1e-9}, above);
    EXPECT_GE(narrow.low, -3.0);
    EXPECT_NEAR(narrow.high, -3.0, 3e-9);
}

}  // namespace
}  // namespace prismopt
