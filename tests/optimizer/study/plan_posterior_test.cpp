#include "optimizer/study/plan_posterior.hpp"

#include "optimizer/study/study.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

class PlanPosteriorOfStudy : public testing::Test {
protected:
    PlanPosteriorOfStudy()
    {
        Communicator team;
        StudyOptions options;
        options.out = folder_.file("tiny.h5");
        options.posterior = false;
        results_ = run_study([this] { return std::optional(scenario_); }, team, options).results;
    }

    TemporaryFolder folder_;
    Scenario scenario_ = tiny_scenario("gpus = [4, 8]\ntp = [1, 2]\npp = [1, 2]\nmicrobatch = [1]\n",
                                       "rungs = [{ fleets = 64, steps = 2 }]\nconfirm = { fleets = 64, steps = 2 }");
    StudyModel model_{scenario_};
    Results results_;
};

TEST_F(PlanPosteriorOfStudy, HasAnIntervalOfEachPlanThatFits)
{
    ASSERT_TRUE(results_.posterior.plans.empty());
    add_posterior(model_, results_);
    ASSERT_FALSE(results_.posterior.plans.empty());
    for (const PlanChance& plan : results_.posterior.plans) {
        EXPECT_LT(plan.low, plan.value);
        EXPECT_GT(plan.high, plan.value);
    }
}

TEST_F(PlanPosteriorOfStudy, StopsAtAnyPause)
{
    int pauses = 0;
    Results whole = results_;
    add_posterior(model_, whole, [&pauses] { ++pauses; });
    ASSERT_GT(pauses, 3);
    for (const int last : {1, pauses / 2, pauses}) {
        int count = 0;
        Results stopped = results_;
        EXPECT_THROW(add_posterior(model_, stopped,
                                   [&count, last] {
                                       if (++count == last) {
                                           throw Stopped("SIGTERM");
                                       }
                                   }),
                     Stopped);
    }
}

}  // namespace
}  // namespace prismopt
