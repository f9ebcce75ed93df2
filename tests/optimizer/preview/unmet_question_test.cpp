#include "optimizer/preview/unmet_question.hpp"

#include "optimizer/api/plans.hpp"
#include "optimizer/preview/example_plan.hpp"
#include "optimizer/preview/space_estimate.hpp"
#include "optimizer/study/worker.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace prismopt {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string some_plans = "gpus = [1, 2, 4, 8]\ntp = [1, 2]\npp = [1, 2, 4]\nmicrobatch = [1, 2]\n";

/// By a question without the error of the model, whose times all have bounds.
Scenario asking(const Question& question)
{
    Scenario scenario = tiny_scenario(some_plans);
    scenario.question = question;
    scenario.question->model_error = false;
    scenario.promise = {.probability = question.probability, .model_error = false};
    return scenario;
}

/// The least lower bound of this objective, from all plans. `limits`: none, or some that exclude no plan,
/// with which bounds are as tight as they can be.
double least_of_all(const Question& question, const std::string& objective,
                    const std::vector<std::vector<double>>& limits = {})
{
    Scenario scenario = asking(question);
    scenario.objectives = {objective};
    const StudyModel model(scenario);
    const Sweep sweep = Worker(model).sweep(
        {.begin = 0, .end = model.designs.space().size(), .limits = limits, .within_limits = false});
    double least = infinity;
    for (const Bound& bound : sweep.feasible) {
        least = std::min(least, bound.objectives.front());
    }
    return least;
}

TEST(UnmetQuestion, HasTheLeastBoundsOfWhatNoPlanKeeps)
{
    const Question question{.deadline = Seconds{60.0}, .budget_usd = 0.01, .gpus_at_most = 24};
    const auto unmet = unmet_question(asking(question));
    ASSERT_TRUE(unmet);
    ASSERT_EQ(unmet->limits.size(), 2U) << "the number of GPUs can be kept";
    for (const UnmetLimit& limit : unmet->limits) {
        EXPECT_GT(limit.least, limit.most) << limit.objective;
        EXPECT_GE(limit.least, least_of_all(question, limit.objective)) << limit.objective;
        EXPECT_LE(limit.least, least_of_all(question, limit.objective, {{infinity}})) << limit.objective;
    }
    EXPECT_EQ(unmet->limits[0].objective, "promised_time");
    EXPECT_EQ(unmet->limits[0].most, 60.0);
    EXPECT_EQ(unmet->limits[1].objective, "cost");
    EXPECT_THAT(unmet_question_text(*unmet),
                AllOf(HasSubstr("no feasible plan can meet [question]"),
                      HasSubstr(", and deadline or done_by allows 60 s"), HasSubstr(", and budget allows "),
                      Not(HasSubstr("promised_time"))));
}

TEST(UnmetQuestion, IsAbsentIfAPlanMayAnswer)
{
    const double fastest = least_of_all({.deadline = Seconds{60.0}}, "promised_time");
    EXPECT_FALSE(unmet_question(tiny_scenario(some_plans)));
    EXPECT_FALSE(unmet_question(asking({.minimise = QuestionAim::time})));
    EXPECT_FALSE(unmet_question(asking({.deadline = Seconds{1.01 * fastest}})));
    EXPECT_TRUE(unmet_question(asking({.deadline = Seconds{0.9 * fastest}})));
}

/// One GPU takes some three times as long as the fastest plan.
TEST(UnmetQuestion, NamesNoLimitWherePlansKeepEachOne)
{
    const double fastest = least_of_all({.deadline = Seconds{60.0}}, "promised_time");
    const Question both{.deadline = Seconds{1.3 * fastest}, .gpus_at_most = 1};
    const auto unmet = unmet_question(asking(both));
    ASSERT_TRUE(unmet);
    EXPECT_TRUE(unmet->limits.empty());
}

/// No question makes a plan infeasible.
TEST(UnmetQuestion, LeavesTheCountsOfPlans)
{
    const Scenario scenario = asking({.deadline = Seconds{60.0}});
    const PlanCount count = count_plans(scenario);
    const PlanCount without = count_plans(without_question(scenario));
    EXPECT_GT(count.feasible, 0U);
    EXPECT_EQ(count.feasible, without.feasible);
    ASSERT_EQ(count.rejected.size(), without.rejected.size());
    for (std::size_t k = 0; k < count.rejected.size(); ++k) {
        EXPECT_EQ(count.rejected[k].count, without.rejected[k].count) << count.rejected[k].reason;
    }
    EXPECT_EQ(feasible_plans(scenario, 1000).size(), count.feasible);
    EXPECT_EQ(first_check(scenario), "");
    EXPECT_TRUE(example_plan(scenario));
    const StudyModel model(scenario);
    const SpaceEstimate estimate = estimate_space(
        model, [] {}, 200);
    EXPECT_TRUE(estimate.plans.empty());
    EXPECT_TRUE(estimate.found_feasible());
    EXPECT_EQ(estimate.kept.value, 0.0);
}

}  // namespace
}  // namespace prismopt
