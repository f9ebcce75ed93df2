#include "search/strategies/exact/points.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace prismopt {
namespace {

using testing::ElementsAre;

TEST(Points, GivePlacesToThoseThatAreNew)
{
    Points points(1);
    points.feasible.add(4, std::vector{1.0});
    points.feasible.put_in_order();
    const std::vector<Bound> bounds{{9, {3.0}}, {4, {2.0}}, {8, {2.5}}};
    EXPECT_THAT(points.places_of(bounds), ElementsAre(0, 1, 2)) << "the known one first";
    EXPECT_EQ(points.feasible.index(1), 8U) << "new ones by their bounds";
    EXPECT_THAT(points.feasible.bound(0), ElementsAre(1.0));
    EXPECT_THAT(points.tight, ElementsAre(8, 9));
}

TEST(Points, FindTheLargestViolationOfABound)
{
    const double none = -std::numeric_limits<double>::infinity();
    Points points(3);
    points.feasible.add(4, std::vector{10.0, 10.0, none});
    points.feasible.put_in_order();
    const auto drawn = [](double first, double second) {
        const auto below = [](double high) { return Estimate{high, high, high, high, high}; };
        return Evaluation{4, 1, 1, {below(first), below(second), below(0.0)}};
    };
    EXPECT_FALSE(points.violation(0, drawn(10.0 * (1.0 - 1e-13), 11.0)).has_value()) << "rounding";
    const auto violation = points.violation(0, drawn(9.0, 8.0));
    ASSERT_TRUE(violation.has_value());
    EXPECT_EQ(*violation,
              (BoundViolation{.point = 4, .objective = 1, .bound = 10.0, .high = 8.0, .relative = 0.2}));
}

}  // namespace
}  // namespace prismopt
