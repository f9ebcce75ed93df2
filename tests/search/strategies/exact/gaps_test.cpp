#include "search/strategies/exact/gaps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace prismopt {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

/// Two objectives and a gap of 10 % sought.
class GapsTest : public testing::Test {
protected:
    std::vector<Gap> known() const { return gaps.gaps(points, sweeps, rounds, race); }

    ExactOptions options{.goal = {.objectives = 2, .top_rung = 1, .bounded = {true, true}},
                         .gaps = {.sought = 0.1, .incumbents = 4}};
    Points points{2};
    Sweeps sweeps{options};
    LimitRounds rounds{options.goal};
    CandidateRace race{options.goal, options.batches};
    Gaps gaps{options};
};

TEST_F(GapsTest, AreUnknownBeforeASweep)
{
    EXPECT_THAT(known(), IsEmpty());
    points.limits.add(0, {10.0, 20.0});
    EXPECT_THAT(known(), IsEmpty());
}

/// Points that the sweep excludes are no more than the gap sought better than the limits;
/// others are as good as their bounds.
TEST_F(GapsTest, AreLeftByBetterPoints)
{
    points.limits.add(0, {10.0, 20.0});
    EXPECT_THAT(gaps.begin_sweep(points.limits),
                ElementsAre(DoubleNear(9.0, 1e-12), DoubleNear(18.0, 1e-12)));
    gaps.receive({{5, {8.0, 30.0}}, {6, {8.5, 25.0}}, {7, {12.0, 17.0}}}, {{9.5, 17.5}});
    gaps.end_sweep();
    const std::vector<Gap> left = known();
    ASSERT_EQ(left.size(), 2U);
    EXPECT_DOUBLE_EQ(left[0].limit, 10.0);
    EXPECT_DOUBLE_EQ(left[0].bound, 8.0);
    EXPECT_DOUBLE_EQ(left[1].bound, 17.0);
    EXPECT_TRUE(gaps.open(left[0]));
    EXPECT_FALSE(gaps.open({10.0, 9.0}));

    const std::vector<Bound> at_gap = gaps.at_gap(0, left[0], rounds);
    ASSERT_EQ(at_gap.size(), 2U) << "two of each objective, and point 7 is no better in the first";
    EXPECT_EQ(at_gap[0].index, 5U);
    EXPECT_EQ(at_gap[1].index, 6U);
    EXPECT_EQ(gaps.best_of_better().size(), 3U);
}

/// Lower limits of an incumbent raise what its bound leaves open.
TEST_F(GapsTest, AreNarrowedByLowerLimits)
{
    points.limits.add(0, {10.0, 20.0});
    gaps.begin_sweep(points.limits);
    gaps.receive({{5, {8.0, 30.0}}}, {});
    gaps.end_sweep();
    const NextRound next = gaps.next_round(points, sweeps, rounds, race);
    EXPECT_EQ(next.closer, 0);
    const std::vector<AskedPoint> check = rounds.open(next.places, points.feasible);
    ASSERT_EQ(check.size(), 1U);
    const Estimate first{9.9, 9.5, 10.5, 9.5, 10.5};
    const Estimate second{31.0, 30.5, 32.0, 30.5, 32.0};
    rounds.receive(check[0].whose, {5, 1, 1, {first, second}, check[0].request.source}, points.limits);
    EXPECT_DOUBLE_EQ(known()[0].bound, 9.0)
        << "nine tenths of the limit: what the sweep excluded may be as good";
    EXPECT_THAT(gaps.at_gap(0, known()[0], rounds), IsEmpty());
    EXPECT_THAT(gaps.next_round(points, sweeps, rounds, race).places, IsEmpty())
        << "no gap is larger than sought";
}

}  // namespace
}  // namespace prismopt
