#include "search/strategies/exact/candidate_race.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr RaceBatches small_batches{.most = 3, .most_of_many = 6, .fewest = 2};

StudyGoal goal_of(std::uint64_t max_evaluations = 0)
{
    return {.objectives = 1, .top_rung = 2, .bounded = {true}, .max_evaluations = max_evaluations};
}

/// Points whose bounds are their numbers.
Points numbered(std::size_t count)
{
    Points points(1);
    for (std::uint64_t index = 0; index < count; ++index) {
        points.feasible.add(index, std::vector{static_cast<double>(index)});
    }
    points.feasible.put_in_order();
    return points;
}

std::vector<std::uint64_t> indices(const std::vector<AskedPoint>& asked)
{
    std::vector<std::uint64_t> found;
    for (const AskedPoint& point : asked) {
        found.push_back(point.request.index);
    }
    return found;
}

/// Values are `base` plus the number, with limits of +-1.
void answer(CandidateRace& race, const std::vector<AskedPoint>& asked, const Points& points, double base)
{
    for (const AskedPoint& point : asked) {
        const double value = base + static_cast<double>(point.request.index);
        const Estimate estimate{value, value - 1.0, value + 1.0, value - 1.0, value + 1.0};
        race.receive(point.whose, {point.request.index, point.request.rung, 1, {estimate}}, points.feasible);
    }
}

TEST(CandidateRace, AsksForNewOnesThenLeadersThenRivals)
{
    const StudyGoal goal = goal_of();
    Points points = numbered(9);
    CandidateRace race(goal, small_batches);
    EXPECT_THAT(race.leaders(points), IsEmpty());
    EXPECT_THAT(race.rivals(points), IsEmpty());
    std::vector<AskedPoint> asked = race.new_candidates(points);
    EXPECT_THAT(indices(asked), ElementsAre(0, 1)) << "layers of a point each, at least two";
    answer(race, asked, points, 5.0);
    asked = race.leaders(points);
    ASSERT_THAT(indices(asked), ElementsAre(0));
    EXPECT_EQ(asked[0].request.rung, 2);
    answer(race, asked, points, 5.0);
    EXPECT_THAT(race.leaders(points), IsEmpty()) << "it is at the top rung";
    EXPECT_THAT(race.front(points.feasible), ElementsAre(0));
    EXPECT_EQ(race.drawn(), 2U);
    EXPECT_EQ(race.settled(), 1U);

    asked = race.rivals(points);
    EXPECT_THAT(indices(asked), ElementsAre(1));
    // Excludes point 1, whose values are 5 and more, and points with bounds from 5 on.
    points.limits.add(0, {4.5});
    EXPECT_THAT(race.rivals(points), IsEmpty());
    EXPECT_EQ(race.settled(), 2U);
    asked = race.new_candidates(points);
    EXPECT_THAT(indices(asked), ElementsAre(2, 3));
    answer(race, asked, points, 0.0);
    EXPECT_THAT(indices(race.new_candidates(points)), ElementsAre(4));
    EXPECT_THAT(race.new_candidates(points), IsEmpty());
}

TEST(CandidateRace, DividesTheErrorBeforeItDraws)
{
    const StudyGoal goal = goal_of();
    Points points = numbered(5);
    CandidateRace race(goal, small_batches);
    race.divide_error(5, 0, points.feasible);
    const double each = 0.5 * (1.0 - goal.confidence) / (2 * 5);  // two rungs, five points
    EXPECT_DOUBLE_EQ(race.new_candidates(points)[0].request.miss, each);

    CandidateRace withheld(goal, small_batches);
    Points later = numbered(2);
    withheld.divide_error(2, 100, later.feasible);
    later.feasible.add(7, std::vector{7.0});
    later.feasible.put_in_order();
    EXPECT_DOUBLE_EQ(withheld.new_candidates(later)[0].request.miss, each * 0.5 * 5.0 / 2.0);
    EXPECT_DOUBLE_EQ(withheld.new_candidates(later)[0].request.miss, each * 0.5 * 5.0 / 100.0);
}

TEST(CandidateRace, StopsAtTheMaximum)
{
    const StudyGoal goal = goal_of(3);
    Points points = numbered(9);
    CandidateRace race(goal, small_batches);
    answer(race, race.new_candidates(points), points, 5.0);
    EXPECT_TRUE(race.may_draw_more());
    answer(race, race.new_candidates(points), points, 5.0);
    EXPECT_EQ(race.drawn(), 3U);
    EXPECT_FALSE(race.may_draw_more());
    EXPECT_THAT(race.new_candidates(points), IsEmpty());
}

/// The least value of a candidate is its lower limit once it is drawn, and its bound before.
TEST(CandidateRace, KnowsTheLeastValues)
{
    const StudyGoal goal = goal_of();
    Points points = numbered(3);
    CandidateRace race(goal, small_batches);
    const std::vector<AskedPoint> asked = race.new_candidates(points);
    std::vector<double> least{99.0};
    race.lower_to_least(least, points.feasible);
    EXPECT_THAT(least, ElementsAre(0.0));
    answer(race, asked, points, 5.0);
    least = {99.0};
    race.lower_to_least(least, points.feasible);
    EXPECT_THAT(least, ElementsAre(4.0));
}

}  // namespace
}  // namespace prismopt
