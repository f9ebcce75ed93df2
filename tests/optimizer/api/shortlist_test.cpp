#include "optimizer/api/shortlist.hpp"
#include "io/base/input_error.hpp"
#include "optimizer/api/plans.hpp"
#include "optimizer/api/search.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/optimizer/older_results.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace prismopt {
namespace {

/// "2" of "tp 1 pp 4 mb 2 1f1b".
std::string microbatch_of(const std::string& words)
{
    const std::size_t begin = words.find(" mb ") + 4;
    return words.substr(begin, words.find(' ', begin) - begin);
}

class ShortlistOfStudy : public testing::Test {
protected:
    ShortlistOfStudy()
    {
        const Scenario scenario =
            tiny_scenario("gpus = [4, 8]\ntp = [1]\npp = [1, 2]\nmicrobatch = [1, 2]\n",
                          "rungs = [{ fleets = 64, steps = 2 }]\nconfirm = { fleets = 64, steps = 2 }");
        StudyOptions options;
        options.out = folder_.file("tiny.h5");
        options.posterior = false;
        results_ = search(scenario, options).results;
    }

    TemporaryFolder folder_;
    Results results_;
};

TEST_F(ShortlistOfStudy, WithoutPlansIsRefusedWithTheReason)
{
    Results stopped = results_;
    stopped.front.clear();
    stopped.evaluations.clear();
    stopped.study.stopped_by = "--max-time";
    EXPECT_THAT([&] { PlanChoice(stopped).shortlists(); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("prismopt resume")));
}

TEST_F(ShortlistOfStudy, OfOlderAxesHasTheSamePlans)
{
    const Results older = without_single_axes(results_);
    ASSERT_LT(older.axes.size(), results_.axes.size());
    const Shortlists expected = PlanChoice(results_).shortlists();
    const Shortlists found = PlanChoice(older).shortlists();
    ASSERT_EQ(found.lists.size(), expected.lists.size());
    for (std::size_t i = 0; i < found.lists.size(); ++i) {
        EXPECT_EQ(found.lists[i].gpus, expected.lists[i].gpus);
        ASSERT_EQ(found.lists[i].plans.size(), expected.lists[i].plans.size());
        for (std::size_t p = 0; p < found.lists[i].plans.size(); ++p) {
            EXPECT_EQ(found.lists[i].plans[p].point, expected.lists[i].plans[p].point);
            EXPECT_EQ(found.lists[i].plans[p].chance_best, expected.lists[i].plans[p].chance_best);
            EXPECT_EQ(microbatch_of(found.lists[i].plans[p].plan),
                      microbatch_of(expected.lists[i].plans[p].plan));
        }
    }
}

TEST_F(ShortlistOfStudy, LearnsFromPlansByTheirWordsAlsoWithOlderAxes)
{
    const FrontPoint& plan = results_.front.front();
    const ChosenPlan chosen = plan_at(results_, static_cast<std::int64_t>(plan.index));
    const std::string table = folder_.file("measured.csv");
    std::ofstream(table) << fmt::format("plan,step_time_s\n\"{}\",{}\n",
                                        design_text(chosen.plan, chosen.scenario.space),
                                        1.05 * plan.prediction.step.mean.value);
    const WhatWasLearned expected = PlanChoice(results_, table).learned();
    const WhatWasLearned found = PlanChoice(without_single_axes(results_), table).learned();
    ASSERT_EQ(found.measured.size(), 1U);
    EXPECT_EQ(found.measured.front().surprise, expected.measured.front().surprise);
    EXPECT_EQ(found.measured.front().predicted_s, expected.measured.front().predicted_s);
}

}  // namespace
}  // namespace prismopt
