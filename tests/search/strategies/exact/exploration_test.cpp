#include "search/strategies/exact/exploration.hpp"

#include "search/archive.hpp"
#include "tests/search/textbook.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace prismopt {
namespace {

struct Explored {
    std::vector<std::uint64_t> asked;
    std::vector<Bound> front;
};
Explored explore(const Space& space, std::uint64_t seed, const ExplorationOptions& options = {})
{
    Exploration exploration(space, seed, options);
    Explored explored;
    for (auto points = exploration.ask(); !points.empty(); points = exploration.ask()) {
        explored.asked.insert(explored.asked.end(), points.begin(), points.end());
        std::vector<Bound> found;
        for (const std::uint64_t index : points) {
            if (index % 7 != 0) {
                found.push_back({index, zdt(1, unit_values(space.point(index), 16))});
            }
        }
        exploration.tell(found);
    }
    explored.front = exploration.front();
    return explored;
}

/// Of 16^5 tuples a hundredth is asked for, none twice, and the front found is near the true one: g = 1.
TEST(Exploration, FindsTheFrontOfZdt1)
{
    const Space space(unit_axes(5, 16), {});
    const Explored explored = explore(space, 1);
    EXPECT_EQ(std::set(explored.asked.begin(), explored.asked.end()).size(), explored.asked.size());
    EXPECT_LT(explored.asked.size(), space.size() / 40);
    std::vector<std::vector<double>> values;
    for (const Bound& bound : explored.front) {
        values.push_back(bound.objectives);
    }
    EXPECT_EQ(non_dominated(values).size(), values.size());
    std::vector<std::vector<double>> best;
    for (int i = 0; i < 16; ++i) {
        best.push_back({i / 15.0, 1.0 - std::sqrt(i / 15.0)});
    }
    EXPECT_GT(hypervolume(values, std::vector{1.1, 1.1}), 0.95 * hypervolume(best, std::vector{1.1, 1.1}));
    EXPECT_EQ(explore(space, 1).asked, explored.asked);
    EXPECT_NE(explore(space, 2).asked, explored.asked);
}

TEST(Exploration, AsksForAllowedPointsOnly)
{
    const auto allows = [](std::span<const int> point) { return (point[0] + point[1]) % 3 == 0; };
    const Space space(unit_axes(4, 8), {{"rule", 2, allows}});
    const Explored explored = explore(space, 3, {.start = 32, .generation = 16, .generations = 5});
    EXPECT_FALSE(explored.asked.empty());
    EXPECT_LE(explored.asked.size(), 32U + 4U * 16U);
    for (const std::uint64_t index : explored.asked) {
        EXPECT_TRUE(space.allows_all(space.point(index)));
    }
}

/// A space without allowed points ends it.
TEST(Exploration, EndsWhereNothingIsAllowed)
{
    const Space space(unit_axes(2, 4), {{"none", 1, [](std::span<const int>) { return false; }}});
    const Explored explored = explore(space, 1);
    EXPECT_TRUE(explored.asked.empty());
    EXPECT_TRUE(explored.front.empty());
}

}  // namespace
}  // namespace prismopt
