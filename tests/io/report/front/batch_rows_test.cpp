#include "io/report/front/batch_rows.hpp"
#include "io/scenario/reading/read_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The small example with three batches; its phase has 64 sequences of 1,024 tokens.
Scenario scenario_with(const std::string& learning)
{
    std::ifstream file(PRISMOPT_SOURCE_DIR "/jobs/scenarios/small.toml");
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::string space = "[space]\n";
    text.replace(text.find(space), space.size(), learning + space + "global_batch = [64, 128, 256]\n");
    return parse_scenario(text, "small.toml");
}

EvaluatedPoint point(std::uint64_t index, int variant, double bound, double drawn)
{
    EvaluatedPoint point;
    point.index = index;
    point.point = {variant, 0};
    point.bounds = {bound, 1.0};
    if (drawn > 0.0) {
        point.rung = 2;
        point.objectives = {{.value = drawn}, {.value = 2.0}};
    }
    return point;
}

TEST(BatchRows, HoldTheBestPlanOfEachBatch)
{
    const Scenario scenario =
        scenario_with("[learning]\nreference_batch = 100e3\ncritical_batch = 1e6\nsource = \"test\"\n");
    Results results;
    results.axes = {{"variant", false, {"global_batch=64", "global_batch=128", "global_batch=256"}},
                    {"gpus", true, {"8"}}};
    results.objectives = {{"training_time_p99", "s", ""}, {"cost", "USD", ""}};
    results.evaluations = {point(1, 0, 90.0, 100.0), point(2, 0, 95.0, 99.0), point(3, 1, 80.0, 0.0),
                           point(4, 1, 85.0, 88.0)};
    FrontPoint& front = results.front.emplace_back();
    front.index = 2;
    front.objectives = {{.value = 98.0}, {.value = 3.0}};
    const std::vector<BatchRow> rows = batch_rows(scenario, results);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_TRUE(rows[0].best.on_front);
    EXPECT_THAT(rows[0].best.values, ElementsAre(98.0, 3.0)) << "as confirmed";
    EXPECT_EQ(rows[0].best.bound, 98.0);
    EXPECT_FALSE(rows[1].best.on_front) << "the plan on the front has another batch";
    EXPECT_THAT(rows[1].best.values, ElementsAre(88.0, 2.0))
        << "drawn, although another plan has a lower bound";
    EXPECT_EQ(rows[1].best.bound, 80.0);
    EXPECT_TRUE(rows[2].best.values.empty());
    for (const BatchRow& row : rows) {
        const Phase phase = phases_of(*scenario.learning, row.global_batch).front();
        EXPECT_EQ(row.tokens, phase.tokens);
        EXPECT_EQ(row.steps, phase.steps());
    }
    EXPECT_LT(rows[0].tokens, rows[1].tokens);
    EXPECT_GT(rows[0].steps, rows[1].steps);
    const std::string text = choices_text(batch_table(scenario, results));
    EXPECT_THAT(text, HasSubstr("on the front"));
    EXPECT_THAT(text, HasSubstr("test"));
    EXPECT_THAT(text, HasSubstr("3 USD (")) << "its interval is that of the tokens";
    EXPECT_EQ(text.find("extrapolated"), std::string::npos);
}

/// The best plan of a batch by the first objective need not be the one that is on the front.
TEST(BatchRows, SayWhereAnotherPlanIsOnTheFront)
{
    const Scenario scenario =
        scenario_with("[learning]\nreference_batch = 100e3\ncritical_batch = 1e6\nsource = \"test\"\n");
    Results results;
    results.axes = {{"variant", false, {"global_batch=64", "global_batch=128", "global_batch=256"}},
                    {"gpus", true, {"8"}}};
    results.objectives = {{"training_time_p99", "s", ""}, {"cost", "USD", ""}};
    results.evaluations = {point(1, 0, 90.0, 99.5), point(2, 0, 95.0, 100.0), point(3, 1, 80.0, 97.0)};
    FrontPoint& front = results.front.emplace_back();
    front.index = 2;
    front.objectives = {{.value = 101.0}, {.value = 1.0}};
    const std::vector<BatchRow> rows = batch_rows(scenario, results);
    EXPECT_FALSE(rows[0].best.on_front);
    EXPECT_TRUE(rows[0].best.some_on_front);
    EXPECT_THAT(rows[0].best.values, ElementsAre(99.5, 2.0));
    EXPECT_FALSE(rows[1].best.some_on_front);
    EXPECT_THAT(choices_text(batch_table(scenario, results)), HasSubstr("another plan on the front"));
}

TEST(BatchRows, AreOfStudiesThatChooseTheBatch)
{
    std::ifstream file(PRISMOPT_SOURCE_DIR "/jobs/scenarios/small.toml");
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_TRUE(batch_rows(parse_scenario(text, "small.toml"), {}).empty());
    EXPECT_EQ(choices_text(batch_table(parse_scenario(text, "small.toml"), {})), "");
}

}  // namespace
}  // namespace prismopt
