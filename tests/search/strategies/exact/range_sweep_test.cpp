#include "search/strategies/exact/range_sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace prismopt {
namespace {

TEST(RangeSweep, RequestsAFirstWaveThenTheOthers)
{
    RangeSweep sweep{
        .purpose = SweepPurpose::front, .ranges = split_space(50, 5), .limits = {{1.0}}, .wave = 2};
    std::vector<Request> requests;
    sweep.add_requests(4, requests);
    EXPECT_EQ(requests.size(), 2U) << "the others wait for the first wave";
    EXPECT_EQ(std::get<SweepRange>(requests[0]).limits, sweep.limits);
    sweep.answered = 1;
    sweep.add_requests(4, requests);
    EXPECT_EQ(requests.size(), 2U);
    sweep.answered = 2;
    sweep.add_requests(2, requests);
    EXPECT_EQ(requests.size(), 4U) << "two beyond the oldest without an answer";
    sweep.answered = 5;
    EXPECT_FALSE(sweep.running());
}

TEST(RangeSweep, ExpectsItsRangesInOrder)
{
    RangeSweep sweep = sweep_of_points(SweepPurpose::tighter, {3, 8});
    EXPECT_TRUE(sweep.ranges[0].again);
    EXPECT_NO_THROW(sweep.expect({3, 4}));
    EXPECT_THROW(sweep.expect({8, 9}), std::runtime_error);
    EXPECT_THROW(sweep.expect({3, 5}), std::runtime_error);
    sweep.answered = 2;
    EXPECT_THROW(sweep.expect({8, 9}), std::runtime_error);
}

}  // namespace
}  // namespace prismopt
