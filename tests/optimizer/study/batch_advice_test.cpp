#include "optimizer/study/batch_advice.hpp"

#include "optimizer/api/scenarios.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

/// A batch of 2048 on 9,216 GPUs: 9 divides the replicas of no plan.
TEST(BatchAdvice, ProposesWhatDivides)
{
    Scenario scenario = tiny_scenario("gpus = [8]\ntp = [1, 2]\npp = [1, 2]");
    EXPECT_EQ(batch_advice(scenario), "") << "of two phases";
    scenario.phases.resize(1);
    scenario.phases.front().global_batch = 2048;
    scenario.cluster.gpus = 9216;
    scenario.space.gpus = {9216};
    scenario.space.tp = {2, 4, 8};
    scenario.space.pp = {4, 8, 16};
    EXPECT_EQ(batch_advice(scenario), "global_batch = 2304, or gpus = 8192 in [space]");
    scenario.space.gpus = {7 * 1024};
    EXPECT_EQ(batch_advice(scenario), "global_batch = 1792, or gpus = 8192 in [space]");
}

}  // namespace
}  // namespace prismopt
