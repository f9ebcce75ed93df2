#include "optimizer/accuracy/model_accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace prismopt {
namespace {

CheckedRun checked(const std::string& source, double measured, double predicted)
{
    CheckedRun run;
    run.run.source = source;
    run.run.row = source + " " + std::to_string(measured);
    run.run.cluster.tiers = {{"node", 8, BytesPerSecond{1.0}, 1.0, Seconds{0.0}, 1.0}};
    run.run.measured_s = measured;
    run.predicted_s = predicted;
    run.noise_free_s = predicted;
    return run;
}

TEST(ModelAccuracy, CountsErrorsBySource)
{
    CheckedModel model;
    model.runs = {checked("a", 10.0, 11.0), checked("a", 20.0, 19.0), checked("a", 40.0, 42.0), checked("b", 1.0, 1.5)};
    model.skipped = {{"b", "b row 2", "no step time"}, {"c", "c row 1", "no step time"}};
    const auto sources = accuracy_by_source(model);
    ASSERT_EQ(sources.size(), 4U);
    const SourceAccuracy& a = sources[0];
    EXPECT_EQ(a.name, "a");
    EXPECT_EQ(a.rows, 3U);
    EXPECT_NEAR(a.mean_absolute, (0.10 + 0.05 + 0.05) / 3.0, 1e-12);
    EXPECT_NEAR(a.median_absolute, 0.05, 1e-12);
    EXPECT_NEAR(a.bias, (0.10 - 0.05 + 0.05) / 3.0, 1e-12);
    EXPECT_NEAR(a.worst, 0.10, 1e-12);
    EXPECT_EQ(a.worst_row, model.runs[0].run.row);
    EXPECT_NEAR(a.rank_correlation, 1.0, 1e-12);
    EXPECT_EQ(sources[1].skipped, 1U);
    EXPECT_TRUE(std::isnan(sources[1].rank_correlation));  // one row has no ranks
    EXPECT_EQ(sources[2].name, "c");
    EXPECT_EQ(sources[2].rows, 0U);
    EXPECT_TRUE(std::isnan(sources[2].mean_absolute));
    EXPECT_EQ(sources[3].name, "total");
    EXPECT_EQ(sources[3].rows, 4U);
    EXPECT_EQ(sources[3].skipped, 2U);
}

TEST(ModelAccuracy, TellsKindsOfRunsApart)
{
    CheckedModel model;
    model.runs = {checked("a", 10.0, 11.0), checked("a", 10.0, 12.0), checked("a", 10.0, 14.0), checked("b", 10.0, 13.0)};
    model.runs[1].run.workload.kinds = {{.name = "moe", .blocks = {ExpertsBlock{.count = 8}}}};
    model.runs[2].run.workload.kinds = model.runs[1].run.workload.kinds;
    model.runs[2].run.workload.precision = Precision::fp8;
    const std::map<std::string, double> expected{{"a: dense, 16 bits or more", 0.1}, {"a: mixtures of experts", 0.2},
                                                 {"a: fewer than 16 bits", 0.4},     {"all: dense, 16 bits or more", 0.2},
                                                 {"all: mixtures of experts", 0.2},  {"all: fewer than 16 bits", 0.4}};
    const auto kinds = accuracy_by_kind(model);
    EXPECT_EQ(kinds.size(), expected.size());
    for (const SourceAccuracy& kind : kinds) {
        ASSERT_TRUE(expected.contains(kind.name)) << kind.name;
        EXPECT_NEAR(kind.mean_absolute, expected.at(kind.name), 1e-12) << kind.name;
    }
}

/// The model likes the plan that takes 12 best; the best takes 10.
TEST(ModelAccuracy, RegretIsWhatTheModelsChoiceCosts)
{
    CheckedModel model;
    model.runs = {checked("a", 10.0, 13.0), checked("a", 12.0, 11.0), checked("a", 15.0, 16.0)};
    const SourceAccuracy a = accuracy_by_source(model).front();
    ASSERT_EQ(a.regrets.size(), 1U);
    EXPECT_EQ(a.regrets.front().rows, 3U);
    EXPECT_NEAR(a.largest_regret(), 0.2, 1e-12);
    EXPECT_NEAR(a.largest_regret_beyond_repeats(), 0.2, 1e-12);
    EXPECT_EQ(a.groups_within(0.21), 1U);
    EXPECT_EQ(a.groups_within(0.19), 0U);
    SourceAccuracy close = a;
    close.regrets.front().excess = repeats_differ - 0.001;
    EXPECT_EQ(close.largest_regret_beyond_repeats(), 0.0);
    EXPECT_TRUE(std::isnan(SourceAccuracy{}.largest_regret_beyond_repeats()));
    EXPECT_NEAR(a.rank_correlation, 0.5, 1e-12);  // ranks 1 2 3 and 2 1 3
    model.runs[2].run.phase.global_batch = 7;     // another batch: two plans are no choice
    EXPECT_TRUE(accuracy_by_source(model).front().regrets.empty());
    EXPECT_TRUE(std::isnan(accuracy_by_source(model).front().largest_regret()));
}

}  // namespace
}  // namespace prismopt
