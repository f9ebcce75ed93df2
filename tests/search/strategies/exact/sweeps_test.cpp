#include "search/strategies/exact/sweeps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace prismopt {
namespace {

using testing::ElementsAre;

ExactOptions two_ranges()
{
    ExactOptions options{.goal = {.objectives = 1, .bounded = {true}}, .space_size = 20};
    options.ranges = split_space(20, 2);
    return options;
}

std::vector<SweepRange> requested(Sweeps& sweeps)
{
    std::vector<Request> requests;
    sweeps.add_requests(requests);
    std::vector<SweepRange> ranges;
    for (const Request& request : requests) {
        ranges.push_back(std::get<SweepRange>(request));
    }
    return ranges;
}

void tell(Sweeps& sweeps, const Sweep& sweep, Points& points)
{
    sweeps.receive(sweep, sweeps.checked(sweep), points);
    sweeps.finish_answer(points);
}

TEST(Sweeps, CountWhatTheSweepForTheFrontFinds)
{
    const ExactOptions options = two_ranges();
    Points points(1);
    Sweeps sweeps(options);
    EXPECT_TRUE(sweeps.open());
    sweeps.sweep_for_front(points);
    const std::vector<SweepRange> ranges = requested(sweeps);
    ASSERT_EQ(ranges.size(), 2U);
    tell(sweeps, {.range = ranges[0], .feasible = {{4, {2.0}}, {5, {1.0}}}, .rejected = {}, .excluded = 3},
         points);
    EXPECT_EQ(sweeps.progress()->done, 1U);
    EXPECT_EQ(sweeps.excluded(points.feasible), 3U);
    tell(sweeps,
         {.range = ranges[1], .feasible = {{11, {3.0}}}, .unreturned = 6, .unchecked = 2, .floor = {{4.0}}},
         points);
    EXPECT_TRUE(sweeps.covered());
    EXPECT_TRUE(sweeps.open()) << "six points were not returned";
    EXPECT_EQ(sweeps.tally().feasible, 12U);
    EXPECT_EQ(sweeps.tally().unchecked, 2U);
    EXPECT_EQ(points.feasible.index(0), 5U) << "by their bounds";

    Limits limits;
    limits.add(99, {3.5});
    EXPECT_EQ(sweeps.drop_excluded(limits).points(), 0U);
    EXPECT_FALSE(sweeps.open());
    EXPECT_EQ(sweeps.excluded(points.feasible), 9U) << "all that were not returned";
}

/// Points that were explored before are counted once, whether the sweep returns
/// them or its limits exclude them.
TEST(Sweeps, CountExploredPointsOnce)
{
    const ExactOptions options = two_ranges();
    Points points(1);
    Sweeps sweeps(options);
    for (const std::uint64_t index : {3, 7}) {
        points.feasible.add(index, std::vector{static_cast<double>(index)});
    }
    points.feasible.put_in_order();
    points.limits.add(0, {5.0});
    sweeps.sweep_for_front(points);
    EXPECT_EQ(points.feasible.excluded(), 1U);
    const std::vector<SweepRange> ranges = requested(sweeps);
    EXPECT_THAT(ranges[0].limits, ElementsAre(std::vector{5.0}));
    tell(sweeps, {.range = ranges[0], .feasible = {{3, {3.0}}}, .excluded = 1}, points);
    tell(sweeps, {.range = ranges[1]}, points);
    EXPECT_EQ(points.feasible.size(), 2U);
    EXPECT_EQ(sweeps.tally().feasible, 2U);
    EXPECT_EQ(sweeps.excluded(points.feasible), 1U);
}

TEST(Sweeps, TightenBoundsOfSweepsWithoutLimits)
{
    const ExactOptions options = two_ranges();
    Points points(1);
    Sweeps sweeps(options);
    sweeps.sweep_for_front(points);
    const std::vector<SweepRange> ranges = requested(sweeps);
    tell(sweeps, {.range = ranges[0], .feasible = {{4, {2.0}}, {5, {1.0}}, {6, {9.0}}}}, points);
    tell(sweeps, {.range = ranges[1]}, points);
    sweeps.tighten(points);
    EXPECT_FALSE(sweeps.running()) << "there are no limits";
    points.limits.add(0, {4.0});
    sweeps.tighten(points);
    const std::vector<SweepRange> single = requested(sweeps);
    ASSERT_EQ(single.size(), 2U) << "the limit excludes point 6";
    tell(sweeps, {.range = single[0], .feasible = {{4, {3.0}}}}, points);
    tell(sweeps, {.range = single[1], .excluded = 1}, points);
    EXPECT_THAT(points.feasible.remaining(), ElementsAre(1)) << "the place of point 4";
    EXPECT_THAT(points.feasible.bound(1), ElementsAre(3.0));
    sweeps.tighten(points);
    EXPECT_FALSE(sweeps.running()) << "once is enough";
}

TEST(Sweeps, SweepAgainWhatWasNotReturned)
{
    const ExactOptions options = two_ranges();
    Points points(1);
    Sweeps sweeps(options);
    sweeps.sweep_again(points);
    EXPECT_FALSE(sweeps.running());
    sweeps.sweep_for_front(points);
    const std::vector<SweepRange> ranges = requested(sweeps);
    tell(sweeps, {.range = ranges[0], .feasible = {{4, {2.0}}}, .unreturned = 1, .floor = {{3.0}}}, points);
    tell(sweeps, {.range = ranges[1]}, points);
    sweeps.sweep_again(points);
    EXPECT_EQ(sweeps.purpose(), SweepPurpose::incomplete);
    for (const SweepRange& range : requested(sweeps)) {
        Sweep sweep{.range = range};
        for (const std::uint64_t index : {4, 9}) {
            if (range.begin <= index && index < range.end) {
                sweep.feasible.push_back({index, {2.0}});
            }
        }
        tell(sweeps, sweep, points);
    }
    EXPECT_FALSE(sweeps.open());
    EXPECT_EQ(points.feasible.size(), 2U) << "point 4 was known";
}

TEST(Sweeps, RefuseBoundsThatAreNoNumbers)
{
    ExactOptions options = two_ranges();
    options.goal = {.objectives = 2, .bounded = {true, false}};
    Points points(2);
    Sweeps sweeps(options);
    sweeps.sweep_for_front(points);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const SweepRange range = requested(sweeps)[0];
    const std::vector<Bound> usable = sweeps.checked({.range = range, .feasible = {{1, {2.0, nan}}}});
    EXPECT_THAT(usable[0].objectives, ElementsAre(2.0, -std::numeric_limits<double>::infinity()))
        << "no bound of the second";
    EXPECT_THROW(sweeps.checked({.range = range, .feasible = {{1, {nan, 2.0}}}}), std::runtime_error);
    EXPECT_THROW(sweeps.checked({.range = range, .feasible = {{1, {2.0}}}}), std::runtime_error);
    EXPECT_THROW(sweeps.checked({.range = {5, 7}}), std::runtime_error);
}

}  // namespace
}  // namespace prismopt
