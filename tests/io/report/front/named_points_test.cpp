#include "io/report/front/named_points.hpp"

#include "tests/io/sample_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace prismopt {
namespace {

using testing::ElementsAre;

/// Two objectives and a cost by point.
Results with_front(const std::vector<std::array<double, 3>>& values)
{
    Results results = sample_results();
    const FrontPoint member = results.front.front();
    results.front.clear();
    for (const auto& [a, b, cost] : values) {
        results.front.push_back(member);
        results.front.back().objectives = {Estimate::exact(a), Estimate::exact(b)};
        results.front.back().prediction.cost_usd = Estimate::exact(cost);
    }
    return results;
}

TEST(NamedPoints, AreTheBestTheKneeAndTheCheapest)
{
    const NamedPoints named = named_points(with_front({{1.0, 10.0, 5.0}, {2.0, 3.0, 4.0}, {9.0, 1.0, 3.0}}));
    EXPECT_EQ(named.best, 0U);
    EXPECT_EQ(named.knee, 1U);
    EXPECT_EQ(named.cheapest, 2U);
    EXPECT_THAT(positions(named), ElementsAre(0U, 1U, 2U));
}

TEST(NamedPoints, MayBeOne)
{
    const NamedPoints named = named_points(with_front({{1.0, 1.0, 1.0}}));
    EXPECT_THAT(positions(named), ElementsAre(0U));
}

TEST(NamedPoints, AreNeitherDominatedNorInfinite)
{
    Results results =
        with_front({{1.0, 10.0, 5.0}, {std::numeric_limits<double>::infinity(), 1.0, 1.0}, {3.0, 2.0, 4.0}});
    results.front[0].dominated = true;
    EXPECT_THAT(positions(named_points(results)), ElementsAre(2U));
    results.front.clear();
    EXPECT_THAT(positions(named_points(results)), ElementsAre());
}

}  // namespace
}  // namespace prismopt
