#include "io/report/subject.hpp"

#include "io/report/report.hpp"
#include "tests/io/sample_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A question whose answer is the second plan of the front, which takes longer and costs less.
Question second_is_enough(Results& results)
{
    results.front.back().prediction.cost_usd = Estimate::exact(1e6);
    return {.minimise = QuestionAim::cost, .deadline = Seconds{1000.0 * 86400.0}};
}

TEST(Subject, IsTheBestWhereNothingIsAsked)
{
    const Results results = sample_results();
    const auto subject = subject_of(results, {});
    ASSERT_TRUE(subject);
    EXPECT_EQ(subject->plan->index, 30U);
    EXPECT_EQ(subject->reason, SubjectReason::best);
    EXPECT_EQ(subject_title(*subject, results), "Best training time p99");
}

TEST(Subject, IsTheAnswerOfTheQuestion)
{
    Results results = sample_results();
    StudyNotes notes;
    notes.question = second_is_enough(results);
    EXPECT_EQ(subject_of(results, notes)->plan->index, 21U);
    EXPECT_EQ(subject_of(results, notes)->reason, SubjectReason::answer);
    notes.question->deadline = Seconds{1.0};
    EXPECT_EQ(subject_of(results, notes)->reason, SubjectReason::surest);
    notes.question->gpus_at_most = 1;
    EXPECT_EQ(subject_of(results, notes)->reason, SubjectReason::best);  // nothing keeps the limits
}

/// Also of a study with a question.
TEST(Subject, IsThePlanAskedFor)
{
    Results results = sample_results();
    StudyNotes notes;
    notes.question = second_is_enough(results);
    results.subject = results.front.front();
    const auto on_front = subject_of(results, notes);
    EXPECT_EQ(on_front->plan, &results.front.front());
    EXPECT_EQ(on_front->reason, SubjectReason::asked);
    EXPECT_TRUE(on_front->on_front);
    EXPECT_EQ(shown_plans(results).size(), 2U);

    results.subject->index = 7;
    EXPECT_FALSE(subject_of(results, notes)->on_front);
    ASSERT_EQ(shown_plans(results).size(), 3U);
    EXPECT_EQ(shown_plans(results).back()->index, 7U);
    const std::string text = text_report(results);
    EXPECT_THAT(text, HasSubstr("Plan asked for: point 7 on 16384 GPUs, off the front\n"));
    EXPECT_THAT(text, Not(HasSubstr("Best training time p99:")));
}

TEST(Subject, FindsPlansOfTheTables)
{
    Results results = sample_results();
    FrontPoint larger = results.front.front();
    larger.index = 8;
    results.may_not_fit.plans = {larger};
    EXPECT_EQ(listed_plan(results, 21), &results.front.back());
    EXPECT_EQ(listed_plan(results, 8), &results.may_not_fit.plans.front());
    EXPECT_EQ(listed_plan(results, 9), nullptr);
}

TEST(Subject, IsNothingOnAnEmptyFront)
{
    Results results = sample_results();
    results.front.clear();
    EXPECT_FALSE(subject_of(results, {}));
}

}  // namespace
}  // namespace prismopt
