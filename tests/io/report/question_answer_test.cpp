#include "io/report/question_answer.hpp"
#include "io/report/alternatives.hpp"

#include "io/base/percent.hpp"
#include "io/report/deadline_risk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr double day = 86400.0;

/// A plan whose times are equal but for the error of the model, a factor that lies
/// with 95 % between these limits.
FrontPoint plan(std::uint64_t index, int gpus, double days, double cost_usd, double error = 1.2)
{
    FrontPoint point;
    point.index = index;
    Prediction& p = point.prediction;
    p.gpus = gpus;
    p.training.quantiles.assign(reported_probabilities.size(), days * day);
    for (std::size_t i = 0; i < p.training.quantiles.size(); ++i) {
        p.training.quantiles[i] *= 1.0 + 1e-6 * static_cast<double>(i);
    }
    p.training.mean = Estimate::exact(days * day);
    p.training.p99 = Estimate::exact(days * day);
    p.cost_usd = Estimate::exact(cost_usd);
    p.run.energy_j = Estimate::exact(1e3 * gpus * days * day);  // 1 kW for each GPU
    point.model_low = 1.0 / error;
    point.model_high = error;
    point.software_low = point.software_high = 1.0;
    return point;
}

class Asked : public testing::Test {
protected:
    Results results_;
    StudyNotes notes_;
    Question question_{.deadline = Seconds{100.0 * day}};

    Asked()
    {
        results_.objectives = {{"training_time_p99", "s", ""}, {"cost", "USD", ""}};
        results_.front = {plan(1, 4096, 50.0, 9e6), plan(2, 2048, 88.0, 8e6), plan(3, 1024, 95.0, 7e6),
                          plan(4, 512, 180.0, 6e6)};
    }
    QuestionAnswer answer() const { return *answer_to(question_, results_, notes_); }
};

/// The chance of 100 days is that of a factor below 100 / 88: a normal logarithm
/// with 95 % between 1 / 1.2 and 1.2.
TEST_F(Asked, ProbabilityIncludesTheErrorOfTheModel)
{
    const double deviation = std::log(1.2) / 1.959964;
    const auto exact = [&](double days) {
        return 0.5 * std::erfc(-std::log(100.0 / days) / deviation / std::sqrt(2.0));
    };
    const QuestionAnswer with = answer();
    ASSERT_TRUE(with.best && with.next && with.not_enough);
    EXPECT_EQ(with.best->plan->index, 2U);
    EXPECT_NEAR(with.best->probability, exact(88.0), 0.005);  // of 200 points of equal probability
    EXPECT_EQ(with.not_enough->plan->index, 3U);
    EXPECT_NEAR(with.not_enough->probability, exact(95.0), 0.005);
    EXPECT_EQ(with.next->plan->index, 1U);
    EXPECT_NEAR(with.best->in_time_s / day, 88.0 * std::exp(1.281552 * deviation), 0.3);
    EXPECT_EQ(with.best->power_w, 2048e3);

    // Of plans that cost less or have fewer GPUs, the most probable.
    results_.front[3].prediction.cost_usd = Estimate::exact(2e7);
    EXPECT_EQ(answer().not_enough->plan->index, 3U);
    const FrontPoint cheaper = results_.front[2];
    results_.front[2].prediction.cost_usd = Estimate::exact(2e7);
    EXPECT_EQ(answer().not_enough->plan->index, 3U) << "the more probable of the two";
    notes_.question = question_;
    for (const QuestionLine& line : answer_changes(results_, notes_)) {
        EXPECT_NE(line.title, "with more time") << line.text;
    }
    results_.front[2] = cheaper;
    results_.front[3].prediction.cost_usd = Estimate::exact(6e6);

    question_.model_error = false;
    const QuestionAnswer without = answer();
    EXPECT_EQ(without.best->plan->index, 3U);
    EXPECT_EQ(without.not_enough->plan->index, 4U);
}

/// Of plans on equally many GPUs that are all in time, the cheapest is the answer, not the surest.
TEST_F(Asked, CostDecidesBetweenEqualNumbersOfGpus)
{
    question_.minimise = QuestionAim::gpus;
    results_.front = {plan(1, 512, 60.0, 7e6), plan(2, 512, 70.0, 6e6), plan(3, 512, 65.0, 8e6)};
    EXPECT_EQ(answer().best->plan->index, 2U);
}

/// What is not probable enough does not look as if it were.
TEST_F(Asked, DigitsShowThatAPlanIsNotEnough)
{
    question_.probability = 0.99;
    results_.front = {plan(1, 1024, 50.0, 9e6), plan(2, 512, 81.0, 6e6)};
    notes_.question = question_;
    const QuestionAnswer found = answer();
    ASSERT_TRUE(found.not_enough);
    ASSERT_EQ(percent_text(found.not_enough->probability, 0), "99 %");
    ASSERT_LT(found.not_enough->probability, 0.99);
    const std::vector<QuestionLine> lines = question_lines(results_, notes_);
    const auto line = std::find_if(lines.begin(), lines.end(),
                                   [](const QuestionLine& one) { return one.title == "not enough"; });
    ASSERT_NE(line, lines.end());
    EXPECT_THAT(line->text, HasSubstr("98."));
}

/// Of several machines, each other one is named with what it comes to: its cheapest
/// in time, otherwise its surest.
TEST_F(Asked, EachOtherMachineHasItsBestPlan)
{
    EXPECT_TRUE(answer().machines.empty());
    Axis machine;
    machine.name = "variant";
    machine.labels = {"cluster=a", "cluster=b", "cluster=c"};
    results_.axes = {machine};
    const std::vector<int> machines{1, 0, 2, 2};
    for (std::size_t i = 0; i < machines.size(); ++i) {
        results_.front[i].point = {machines[i]};
    }
    const QuestionAnswer now = answer();
    ASSERT_EQ(now.machines.size(), 2U);
    EXPECT_EQ(now.machines[0].machine, "b");
    EXPECT_EQ(now.machines[0].plan.plan->index, 1U);
    EXPECT_EQ(now.machines[1].machine, "c");
    EXPECT_EQ(now.machines[1].plan.plan->index, 3U) << "too late, and surer than the other";
    notes_.question = question_;
    const std::vector<QuestionLine> lines = question_lines(results_, notes_);
    const auto with_b = std::find_if(lines.begin(), lines.end(),
                                     [](const QuestionLine& line) { return line.title == "with b"; });
    ASSERT_NE(with_b, lines.end());
    EXPECT_NE(with_b->text.find("9 M USD"), std::string::npos) << with_b->text;
}

/// The time that is kept with a probability is late with the rest of it.
TEST_F(Asked, TimesInvertProbabilities)
{
    for (const double probability : {0.5, 0.8, 0.95}) {
        question_.probability = probability;
        const double seconds = answer().surest->in_time_s;
        const FrontPoint& surest = *answer().surest->plan;
        EXPECT_NEAR(deadline_risk(surest, Seconds{seconds})->mean, 1.0 - probability, 0.006) << probability;
    }
}

TEST_F(Asked, KeepsTheOtherLimits)
{
    question_.power_limit = Watts{2e6};
    EXPECT_FALSE(answer().best);
    EXPECT_EQ(answer().surest->plan->index, 3U);
    question_.power_limit = {};
    question_.budget_usd = 8.5e6;
    EXPECT_EQ(answer().best->plan->index, 2U);
    EXPECT_FALSE(answer().next);
    question_.gpus_at_most = 100;
    EXPECT_FALSE(answer().surest);
    notes_.question = question_;
    EXPECT_THAT(question_lines(results_, notes_).at(1).text,
                HasSubstr("the limits: the least number of GPUs with spares is 512, the limit 100"));
    question_.gpus_at_most = 1000;
    question_.budget_usd = 6.5e6;
    question_.power_limit = Watts{3e5};
    notes_.question = question_;
    EXPECT_THAT(question_lines(results_, notes_).at(1).text,
                HasSubstr("the least power is 512 kW, the limit 300 kW"));
    EXPECT_THAT(question_lines(results_, notes_).at(1).text, testing::Not(HasSubstr("GPUs is")));
}

TEST_F(Asked, NamesEachLimitThatNoPlanKeeps)
{
    question_.deadline = Seconds{60.0};
    question_.budget_usd = 1.0;
    question_.gpus_at_most = 1000;
    notes_.question = question_;
    const std::string text = question_lines(results_, notes_).at(1).text;
    EXPECT_THAT(text, HasSubstr("the least cost is 6 M USD, the limit 1 USD"));
    EXPECT_THAT(text, HasSubstr("the least time with 90 % is "));
    EXPECT_THAT(text, HasSubstr(" days, the limit 60 s"));
    EXPECT_THAT(text, testing::Not(HasSubstr("GPUs with spares is")));
}

TEST_F(Asked, CountsTheGpusOfSpareNodes)
{
    question_.gpus_at_most = 2048;
    EXPECT_EQ(answer().best->plan->index, 2U);
    results_.front[1].prediction.run.spare_gpus = 128.0;
    EXPECT_FALSE(answer().best);
    notes_.question = question_;
    const std::vector<QuestionLine> lines = question_lines(results_, notes_);
    const auto beyond = std::find_if(lines.begin(), lines.end(),
                                     [](const QuestionLine& line) { return line.title == "beyond a limit"; });
    ASSERT_NE(beyond, lines.end());
    EXPECT_THAT(
        beyond->text,
        HasSubstr("number of GPUs with spares 2,176 instead of 2,048: 2,048 GPUs, 128 more as spares"));
    results_.front[1].prediction.run.spare_gpus = std::numeric_limits<double>::quiet_NaN();  // an older file
    EXPECT_EQ(answer().best->plan->index, 2U);
}

/// The cost follows the time, whose error is a factor with 95 % between 1 / 1.2 and 1.2: of 8 M USD, a budget
/// of 8.8 M USD is kept with the probability of a factor below 1.1.
TEST_F(Asked, StatesHowSurelyTheBudgetIsKept)
{
    question_.budget_usd = 8.8e6;
    notes_.question = question_;
    const double score = std::log(1.1) / (std::log(1.2) / 1.959964);
    const double kept = 0.5 * std::erfc(-score / std::sqrt(2.0));
    const std::string text = question_lines(results_, notes_).at(1).text;
    const std::string before = "8 M USD (95 %: 6.67 to 9.6), within the budget with ";
    ASSERT_THAT(text, HasSubstr(before));
    const double stated = std::stod(text.substr(text.find(before) + before.size()));
    EXPECT_NEAR(stated, 100.0 * kept, 1.0);  // 200 points of equal probability, and a whole number
    EXPECT_NEAR(answer().best->budget_probability, kept, 0.005);
    question_.budget_usd = 0.0;
    EXPECT_TRUE(std::isnan(answer().best->budget_probability));
}

TEST_F(Asked, WritesLargeNumbersWithoutExponents)
{
    question_.deadline = Seconds{1e5 * day};
    question_.budget_usd = 1e14;
    results_.front = {plan(1, 64, 50.0, 9.3e5)};
    notes_.question = question_;
    const std::vector<QuestionLine> lines = question_lines(results_, notes_);
    EXPECT_THAT(lines.at(0).text, HasSubstr("done within 100,000 days"));
    EXPECT_THAT(lines.at(0).text, HasSubstr("at most 100,000,000 M USD"));
    EXPECT_THAT(lines.at(1).text, HasSubstr("930 k USD (95 %: 775 to 1,120)"));
}

TEST_F(Asked, NamesTheSizesThatTheSearchTried)
{
    const auto has_sizes = [this] {
        const std::vector<QuestionLine> lines = question_lines(results_, notes_);
        return std::find_if(lines.begin(), lines.end(), [](const QuestionLine& line) {
                   return line.title == "sizes tried";
               }) != lines.end();
    };
    notes_.question = question_;
    Axis gpus;
    gpus.name = "gpus";
    gpus.labels = {"512"};
    results_.axes = {gpus};
    for (FrontPoint& point : results_.front) {
        point.point = {0};
    }
    EXPECT_FALSE(has_sizes());
    results_.axes.front().labels = {"512", "1024", "2048", "4096"};
    EXPECT_TRUE(has_sizes());
}

TEST_F(Asked, HoldsThePowerOfTheJobOrOfTheCluster)
{
    for (FrontPoint& point : results_.front) {
        point.prediction.run.cluster_power_w = 1e3 * point.prediction.gpus + 5e5;
    }
    question_.power_limit = Watts{2.1e6};
    EXPECT_EQ(answer().best->plan->index, 2U);  // 2,048 GPUs of 1 kW
    question_.power_limit_of = PowerScope::cluster;
    EXPECT_FALSE(answer().best);
    question_.power_limit = Watts{2.6e6};
    EXPECT_EQ(answer().best->plan->index, 2U);
    EXPECT_EQ(answer().best->cluster_power_w, 2.548e6);
    notes_.question = question_;
    EXPECT_THAT(question_lines(results_, notes_).at(0).text,
                HasSubstr("at most 2.6 MW for the whole cluster"));
    EXPECT_THAT(question_lines(results_, notes_).at(1).text, HasSubstr("2.05 MW (whole cluster: 2.55 MW)"));
}

TEST_F(Asked, SaysWhatIsElectricity)
{
    notes_.question = question_;
    EXPECT_THAT(question_lines(results_, notes_).at(1).text, testing::Not(HasSubstr("electricity")));
    results_.front[1].prediction.run.electricity_usd = Estimate::exact(4e5);
    EXPECT_THAT(question_lines(results_, notes_).at(1).text, HasSubstr("8 M USD (electricity 400 k USD)"));
}

/// A placeholder decides nothing.
TEST_F(Asked, IsNotAnsweredByAPlaceholder)
{
    notes_.question = question_;
    notes_.ranked_placeholder = "cost would rank plans by a placeholder; give gpu_price";
    EXPECT_FALSE(answer_to(question_, results_, notes_));
    EXPECT_THAT(question_lines(results_, notes_).at(0).text, HasSubstr("give gpu_price"));
}

TEST_F(Asked, MinimisesWhatIsAskedFor)
{
    question_.deadline = Seconds{400.0 * day};
    EXPECT_EQ(answer().best->plan->index, 4U);
    question_.minimise = QuestionAim::time;
    EXPECT_EQ(answer().best->plan->index, 1U);
    EXPECT_TRUE(answer().minimised);
    question_.minimise = QuestionAim::energy;  // 1 kW times GPUs times days
    EXPECT_EQ(answer().best->plan->index, 4U);
    EXPECT_FALSE(answer().minimised);
}

TEST_F(Asked, LargestDoubtIsTheWidestInterval)
{
    EXPECT_EQ(answer().doubt, LargestDoubt::model);
    for (FrontPoint& point : results_.front) {
        point.software_low = 0.9;
        point.software_high = 1.9;
    }
    EXPECT_EQ(answer().doubt, LargestDoubt::software);
    for (FrontPoint& point : results_.front) {
        point.prediction.training.p99.high = std::numeric_limits<double>::infinity();
    }
    EXPECT_EQ(answer().doubt, LargestDoubt::draws);
}

TEST_F(Asked, AFileWithoutModelErrorSaysSo)
{
    for (FrontPoint& point : results_.front) {
        point.model_low = point.model_high = std::numeric_limits<double>::quiet_NaN();
    }
    EXPECT_FALSE(answer().model_error);
    notes_.question = question_;
    EXPECT_THAT(question_lines(results_, notes_).front().text, HasSubstr("its error is not in this file"));
}

/// Without a limit, too: the answer has a time.
TEST_F(Asked, SaysWhetherTimesIncludeTheErrorOfTheModel)
{
    notes_.question = Question{};
    EXPECT_EQ(question_lines(results_, notes_).front().text,
              "least cost, times with 90 % (model error included)");
    notes_.question->model_error = false;
    EXPECT_EQ(question_lines(results_, notes_).front().text,
              "least cost, times with 90 % (assuming the model is exact)");
}

/// Of a schema before tables.
TEST_F(Asked, AFileWithoutTablesHasNoAnswer)
{
    results_.front.back().prediction.training.quantiles.clear();
    EXPECT_FALSE(answer_to(question_, results_, notes_));
}

TEST_F(Asked, NothingWithoutAQuestion)
{
    EXPECT_THAT(question_lines(results_, notes_), IsEmpty());
    results_.front.clear();
    notes_.question = question_;
    EXPECT_THAT(question_lines(results_, notes_), IsEmpty());
}

/// The last day counts whole.
TEST(QuestionTime, ADayIsOverAtItsEnd)
{
    using namespace std::chrono;
    const Question by_day{.done_by = sys_days{2027y / April / 15}};
    EXPECT_EQ(time_limit(by_day, sys_days{2027y / April / 10}).si, 6.0 * day);
    EXPECT_EQ(time_limit(Question{.deadline = Seconds{5.0}}, std::nullopt).si, 5.0);
}

}  // namespace
}  // namespace prismopt
