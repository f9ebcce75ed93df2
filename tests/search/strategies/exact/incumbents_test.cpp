#include "search/strategies/exact/incumbents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <vector>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Two layers: four points on a diagonal, then three behind them. Places are in
/// the order of the first objective.
Points two_layers()
{
    Points points(2);
    for (const std::uint64_t i : {0, 1, 2, 3}) {
        const auto x = static_cast<double>(i);
        points.feasible.add(i, std::vector{1.0 + x, 4.0 - x});
        if (i < 3) {
            points.feasible.add(10 + i, std::vector{2.5 + x, 5.5 - x});
        }
    }
    points.feasible.put_in_order();
    return points;
}

std::vector<std::uint64_t> indices_at(const Points& points, const std::vector<std::size_t>& places)
{
    std::vector<std::uint64_t> found;
    for (const std::size_t place : places) {
        found.push_back(points.feasible.index(place));
    }
    return found;
}

TEST(Incumbents, AreTheBestByBounds)
{
    const Points points = two_layers();
    EXPECT_THAT(indices_at(points, best_by_bounds(points, 2)), ElementsAre(0, 2))
        << "spread over the first layer";
    EXPECT_THAT(indices_at(points, best_by_bounds(points, 4)), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(indices_at(points, best_by_bounds(points, 6)), ElementsAre(0, 1, 2, 3, 10, 11));
    EXPECT_EQ(best_by_bounds(points, 99).size(), 7U);
    EXPECT_THAT(indices_at(points, first_layer(points.feasible, 99)), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(indices_at(points, best_of_each_objective(points.feasible, 2, 0)), ElementsAre(0, 3))
        << "at least one of each";
    EXPECT_THAT(best_by_bounds(Points(2), 3), IsEmpty());
}

TEST(Incumbents, AreNoPointsThatLimitsExclude)
{
    Points points = two_layers();
    points.limits.add(99, {2.2, 5.0});
    EXPECT_THAT(indices_at(points, best_by_bounds(points, 99)), ElementsAre(0, 1, 2, 3, 11, 12));
}

TEST(Incumbents, AreScoutsThatNoOtherDominates)
{
    const std::vector<Scout> scouts{{7, {1.0, 3.0}}, {3, {2.0, 4.0}}, {5, {3.0, 1.0}}};
    EXPECT_THAT(best_scouts(scouts), testing::UnorderedElementsAre(7, 5));
    EXPECT_THAT(best_scouts({}), IsEmpty());
}

/// Limits at 1 and 2: a point counts at the one that would have to be lowered less.
TEST(Incumbents, AreOwnersOfLimitsThatManyPointsAreNear)
{
    Limits limits;
    const std::vector<std::vector<double>> near_a(10, {0.9, 1.9});
    std::vector<std::vector<double>> all(9, {1.9, 0.9});
    all.insert(all.end(), near_a.begin(), near_a.end());
    const std::vector<std::span<const double>> points(all.begin(), all.end());
    EXPECT_THAT(owners_of_many(limits, points), IsEmpty());
    limits.add(4, {1.0, 2.0});
    limits.add(6, {2.0, 1.0});
    EXPECT_THAT(owners_of_many(limits, points), ElementsAre(4)) << "nine are too few";
}

}  // namespace
}  // namespace prismopt
