#include "io/report/alternatives.hpp"

#include "tests/io/sample_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double one_day = 86400.0;

FrontPoint plan_of(std::uint64_t index, int gpus, double days, double cost_usd)
{
    FrontPoint point = sample_results().front.front();
    Prediction& p = point.prediction;
    for (std::size_t i = 0; i < p.training.quantiles.size(); ++i) {
        p.training.quantiles[i] = days * one_day * (1.0 + 1e-6 * static_cast<double>(i));
    }
    point.index = index;
    p.gpus = gpus;
    p.cost_usd = Estimate::exact(cost_usd);
    point.model_low = 1.0 / 1.2;
    point.model_high = 1.2;
    point.software_low = point.software_high = 1.0;
    return point;
}

class Alternatives : public testing::Test {
protected:
    Results results_ = sample_results();
    StudyNotes notes_;

    Alternatives()
    {
        results_.front = {plan_of(1, 4096, 50.0, 9e6), plan_of(2, 2048, 88.0, 8e6),
                          plan_of(3, 2048, 80.0, 8.5e6), plan_of(4, 1024, 95.0, 7e6)};
        notes_.question = Question{.deadline = Seconds{100.0 * one_day}};
    }
    std::vector<std::uint64_t> sizes() const
    {
        std::vector<std::uint64_t> points;
        for (const QuestionedPlan& plan : plans_by_size(results_, notes_)) {
            points.push_back(plan.plan->index);
        }
        return points;
    }
};

TEST_F(Alternatives, HasTheCheapestOfEachNumberOfGpusThatIsEnough)
{
    EXPECT_THAT(sizes(), ElementsAre(4U, 2U, 1U));
    notes_.question->deadline = Seconds{90.0 * one_day};  // too early for the cheaper one
    EXPECT_THAT(sizes(), ElementsAre(4U, 3U, 1U));
    notes_.question->deadline = Seconds{60.0 * one_day};  // too early for both: the surest
    EXPECT_THAT(sizes(), ElementsAre(4U, 3U, 1U));
}

TEST_F(Alternatives, WithoutAQuestionAreOfTheDeadlineOrTheFastest)
{
    notes_.question.reset();
    notes_.deadline = Seconds{100.0 * one_day};
    EXPECT_THAT(sizes(), ElementsAre(4U, 2U, 1U));
    notes_.deadline = {};
    EXPECT_THAT(sizes(), ElementsAre(4U, 3U, 1U));
}

TEST_F(Alternatives, SayWhatWouldChangeTheAnswer)
{
    results_.front[1].software_low = 0.9;
    results_.front[1].software_high = 1.9;
    const std::vector<QuestionLine> lines = answer_changes(results_, notes_);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].title, "with more time");
    EXPECT_THAT(lines[0].text,
                HasSubstr("from 107 days on, or with a probability of 71 %: point 4 on 1,024 GPUs, 7 M USD"));
    EXPECT_EQ(lines[1].title, "with less time");
    EXPECT_THAT(lines[1].text, HasSubstr("before 99.3 days: point 3 on 2,048 GPUs, 8.5 M USD"));
    EXPECT_EQ(lines[2].title, "other software");
    EXPECT_THAT(lines[2].text, HasSubstr("1.9 times as long, and half of such runs longer than"));
}

TEST_F(Alternatives, AreNothingWithoutAQuestionOfTime)
{
    notes_.question = Question{};
    EXPECT_THAT(answer_changes(results_, notes_), IsEmpty());
    notes_.question.reset();
    EXPECT_THAT(answer_changes(results_, notes_), IsEmpty());
}

}  // namespace
}  // namespace prismopt
