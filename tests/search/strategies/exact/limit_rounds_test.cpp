#include "search/strategies/exact/limit_rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Three points of one objective, at the places of their numbers.
BoundLayers three_points()
{
    BoundLayers feasible(1);
    for (const std::uint64_t index : {0, 1, 2}) {
        feasible.add(index, std::vector{1.0 + static_cast<double>(index)});
    }
    feasible.put_in_order();
    return feasible;
}

Evaluation with_limits(const AskedPoint& asked, double low, double high)
{
    const PointRequest& request = asked.request;
    return {request.index, request.rung, 1, {{0.5 * (low + high), low, high, low, high}}, request.source};
}

TEST(LimitRounds, FixIncumbentsAndCheckInfiniteLimitsAgain)
{
    const StudyGoal goal{.objectives = 1, .top_rung = 3, .bounded = {true}};
    const BoundLayers feasible = three_points();
    LimitRounds rounds(goal);
    Limits limits;
    EXPECT_THAT(rounds.open({}, feasible), IsEmpty());
    EXPECT_EQ(rounds.opened(), 0);

    std::vector<AskedPoint> check = rounds.open({0, 2}, feasible, 1);
    ASSERT_EQ(check.size(), 2U);
    EXPECT_EQ(rounds.opened(), 1);
    EXPECT_EQ(check[1].request.index, 2U);
    EXPECT_EQ(check[1].request.rung, 4);
    EXPECT_EQ(check[1].request.source, (DrawSource{Purpose::limits, 1}));
    EXPECT_THAT(rounds.without_limits({0, 1, 2}), ElementsAre(1));

    rounds.receive(check[0].whose, with_limits(check[0], 1.5, 2.0), limits);
    rounds.receive(check[1].whose, with_limits(check[1], 1.0, unlimited), limits);
    EXPECT_EQ(limits.newest(), 1U);
    for (const int rung : {5, 6, 7}) {
        check = rounds.next_check(feasible);
        ASSERT_EQ(check.size(), 1U);
        EXPECT_EQ(check[0].whose, 2U);
        EXPECT_EQ(check[0].request.rung, rung);
        rounds.receive(2, with_limits(check[0], 3.5 - 0.1 * rung, unlimited), limits);
    }
    EXPECT_THAT(rounds.next_check(feasible), IsEmpty()) << "four looks";
    EXPECT_THAT(rounds.least_of({2, {1.0}}), ElementsAre(3.0)) << "the largest lower limit of all looks";
    EXPECT_THAT(rounds.least_of({2, {9.0}}), ElementsAre(9.0));
    EXPECT_THAT(rounds.least_of({1, {1.0}}), ElementsAre(1.0));
}

/// All that may fail over many rounds, with all looks, sums to half of the error, and comes near it.
TEST(LimitRounds, SpendHalfOfTheError)
{
    const StudyGoal goal{.objectives = 1, .top_rung = 1, .bounded = {true}, .confidence = 0.9};
    const BoundLayers feasible = three_points();
    LimitRounds rounds(goal);
    double spent = 0.0;
    for (std::size_t round = 0; round < 200; ++round) {
        for (auto check = rounds.open({0, 1}, feasible); !check.empty();
             check = rounds.next_check(feasible)) {
            for (const AskedPoint& asked : check) {
                spent += 2.0 * asked.request.miss;  // an upper and a lower limit
            }
        }
    }
    EXPECT_LT(spent, 0.05);
    // Of sum 1/k^2 over all k, four looks have 1.4236 / 1.6449; 200 rounds miss 1/200.
    EXPECT_GT(spent, 0.05 * 1.4236 / 1.6449 * (1.0 - 1.0 / 200.0));
}

}  // namespace
}  // namespace prismopt
