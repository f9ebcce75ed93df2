#include "search/components/moves.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace prismopt {
namespace {

Axis degrees(const std::string& name) { return {name, true, {"1", "2", "3", "4", "6", "8", "12"}}; }

/// tp * pp divides 24, and the kind goes with even tp only.
Space space()
{
    const auto number = [](int label) {
        return std::vector{1, 2, 3, 4, 6, 8, 12}[static_cast<std::size_t>(label)];
    };
    return {
        {degrees("tp"), degrees("pp"), {"kind", false, {"x", "y"}}, {"fixed", true, {"one"}}},
        {{"product", 2, [number](std::span<const int> p) { return 24 % (number(p[0]) * number(p[1])) == 0; }},
         {"kind", 3, [number](std::span<const int> p) { return p[2] == 0 || number(p[0]) % 2 == 0; }}}};
}

TEST(SearchRandom, ThrowsDependOnSeedAndChoiceAlone)
{
    SearchRandom a(1, 2);
    SearchRandom b(1, 2);
    SearchRandom other(1, 3);
    double sum = 0.0;
    constexpr int throws = 4000;
    int differ = 0;
    for (int i = 0; i < throws; ++i) {
        const double u = a.uniform();
        EXPECT_EQ(u, b.uniform());
        differ += u == other.uniform() ? 0 : 1;
        EXPECT_GE(u, 0.0);
        EXPECT_LT(u, 1.0);
        sum += u;
    }
    EXPECT_EQ(differ, throws);
    EXPECT_NEAR(sum / throws, 0.5, 4.0 / std::sqrt(12.0 * throws));  // four standard errors
}

TEST(Moves, RepairKeepsWhatIsAllowedAndMendsTheRest)
{
    const Space s = space();
    const Moves moves(s);
    for (std::uint64_t index = 0; index < s.size(); ++index) {
        const Point point = s.point(index);
        const auto repaired = moves.repaired(point);
        ASSERT_TRUE(repaired.has_value());
        EXPECT_TRUE(s.allows_all(*repaired));
        EXPECT_EQ(s.allows_all(point), *repaired == point);
        EXPECT_EQ(repaired->front(), point.front());  // leading labels stay where they can
    }
    const Space none(s.axes(), {{"nothing", 4, [](std::span<const int>) { return false; }}});
    EXPECT_FALSE(Moves(none).repaired(none.point(0)).has_value());
}

TEST(Moves, ShiftingAFactorKeepsTheProduct)
{
    const Space s = space();
    const Moves moves(s);
    std::set<Point> reached;
    for (std::uint32_t choice = 0; choice < 200; ++choice) {
        SearchRandom random(1, choice);
        Point point{1, 4, 0, 0};  // 2 * 6
        ASSERT_TRUE(moves.shift_factor(point, random));
        reached.insert(point);
    }
    EXPECT_EQ(reached,
              (std::set<Point>{{0, 6, 0, 0}, {2, 3, 0, 0}, {3, 2, 0, 0}, {4, 1, 0, 0}, {6, 0, 0, 0}}));
    SearchRandom random(1, 0);
    Point alone{6, 6, 0, 0};  // 12 * 12: no other pair has this product
    EXPECT_FALSE(moves.shift_factor(alone, random));
}

TEST(Moves, MutationChangesAndCrossingMixes)
{
    const Space s = space();
    const Moves moves(s);
    const Point a{0, 1, 0, 0};
    const Point b{5, 1, 1, 0};
    int between = 0;
    for (std::uint32_t choice = 0; choice < 300; ++choice) {
        SearchRandom random(7, choice);
        Point mutant = a;
        moves.mutate(mutant, 0.0, random);
        int changed = 0;
        for (std::size_t axis = 0; axis < a.size(); ++axis) {
            changed += mutant[axis] == a[axis] ? 0 : 1;
        }
        EXPECT_LE(changed, 1);
        const Point child = moves.cross(a, b, random);
        EXPECT_EQ(child[1], 1);
        EXPECT_GE(child[0], 0);
        EXPECT_LE(child[0], 5);
        between += child[0] > 0 && child[0] < 5 ? 1 : 0;
    }
    EXPECT_GT(between, 0);
}

}  // namespace
}  // namespace prismopt
