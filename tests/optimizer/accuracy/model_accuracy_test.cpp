#include "optimizer/accuracy/model_accuracy.hpp"

#include "tests/support/workload_shapes.hpp"

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
    model.runs = {checked("a", 10.0, 11.0), checked("a", 20.0, 19.0), checked("a", 40.0, 42.0),
                  checked("b", 1.0, 1.5)};
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

/// 1.3e9 parameters; a tenth of a peak of 100 TFLOP/s on one GPU is 1e13 operations per second.
TEST(ModelAccuracy, JudgesLargeOrWellUsedNetworksWithMeasuredTimes)
{
    MeasuredRun run;
    run.workload = workload_of(gpt(24, 2048, 16));
    run.phases = {{1e9, 1024, 1}};
    run.cluster.accelerator.peak_bf16 = FlopsPerSecond{100e12};
    run.measured_s = 1e6;
    EXPECT_TRUE(judged(run));
    run.of_formula = true;
    EXPECT_FALSE(judged(run));
    run.of_formula = false;
    run.workload = workload_of(gpt(2, 512, 8));
    const double flops = model_flops_per_sequence(network_of(run.workload), 1024);
    run.measured_s = flops / 0.9e13;
    EXPECT_FALSE(judged(run));
    run.measured_s = flops / 1.1e13;
    EXPECT_TRUE(judged(run));
}

TEST(ModelAccuracy, DistinguishesKindsOfRuns)
{
    CheckedModel model;
    model.runs = {checked("a", 10.0, 11.0), checked("a", 10.0, 12.0), checked("a", 10.0, 14.0),
                  checked("b", 10.0, 13.0)};
    model.runs[1].run.workload.kinds = {{.name = "moe", .blocks = {ExpertsBlock{.count = 8}}}};
    model.runs[2].run.workload.kinds = model.runs[1].run.workload.kinds;
    model.runs[2].run.workload.precision = Precision::fp8;  // a mixture all the same
    model.runs.push_back(checked("b", 10.0, 15.0));
    model.runs.back().run.workload.precision = Precision::fp8;
    model.runs.push_back(checked("b", 10.0, 16.0));
    model.runs.back().run.workload.kinds = {{.name = "m", .blocks = {Mamba2Block{}}}};
    model.runs.push_back(checked("b", 10.0, 18.0));
    model.runs.back().run.workload.kinds = {
        {.name = "w", .blocks = {AttentionBlock{.window = 128}, ExpertsBlock{.count = 8}}}};
    const std::map<std::string, double> expected{{"a: dense, 16 bits or more", 0.1},
                                                 {"a: mixtures of experts", 0.3},
                                                 {"b: dense, 16 bits or more", 0.3},
                                                 {"b: dense, fewer than 16 bits", 0.5},
                                                 {"b: hybrids and windows", 0.7},
                                                 {"all: dense, 16 bits or more, not judged", 0.2},
                                                 {"all: dense, fewer than 16 bits, not judged", 0.5},
                                                 {"all: mixtures of experts, not judged", 0.3},
                                                 {"all: hybrids and windows, not judged", 0.7}};
    const auto kinds = accuracy_by_kind(model);
    EXPECT_EQ(kinds.size(), expected.size());
    for (const SourceAccuracy& kind : kinds) {
        ASSERT_TRUE(expected.contains(kind.name)) << kind.name;
        EXPECT_NEAR(kind.mean_absolute, expected.at(kind.name), 1e-12) << kind.name;
    }
}

/// Plans measured on other releases of the software are not compared.
TEST(ModelAccuracy, RegretIsAmongPlansOfOneSoftware)
{
    CheckedModel model;
    model.runs = {checked("a", 10.0, 13.0), checked("a", 12.0, 11.0), checked("a", 15.0, 16.0)};
    model.runs.back().run.cluster.stack.name = "another release";
    EXPECT_TRUE(accuracy_by_source(model).front().regrets.empty());
}

/// Means over rows; sources by their own means, without the families whose machine no other has.
TEST(ModelAccuracy, SumsUpHeldOutFamilies)
{
    const std::vector<HeldOutErrors> families{
        {"a", "gpt", RunKind::dense, true, 10, {0.02, 1.0, 0.1}, {0.05, 1.0, 0.2}, 0.0},
        {"a", "bert", RunKind::dense, true, 10, {0.04, 0.9, 0.1}, {0.07, 0.8, 0.4}, 0.0},
        {"b", "gpt", RunKind::dense, true, 4, {0.03, 1.0, 0.1}, {0.20, 1.0, 0.3}, 0.0},
        {"c", "gpt", RunKind::dense, false, 6, {0.03, 1.0, 0.1}, {0.50, 0.0, 0.3}, 0.0},
        {"d", "gpt", RunKind::dense, true, 5, {0.03, 1.0, 0.1}, {0.10, 1.0, 0.3}, 0.0},
        {"a", "moe", RunKind::moe, false, 3, {0.1, 1.0, 0.3}, {0.2, 1.0, 0.5}, 0.0}};
    const std::vector<HeldOutAccuracy> kinds = held_out_by_kind(families);
    ASSERT_EQ(kinds.size(), 2U);
    const HeldOutAccuracy& dense = kinds.front();
    EXPECT_EQ(dense.rows, 35);
    EXPECT_NEAR(dense.fitted.error, (0.2 + 0.4 + 0.12 + 0.18 + 0.15) / 35.0, 1e-12);
    EXPECT_NEAR(dense.held_out.error, (0.5 + 0.7 + 0.8 + 3.0 + 0.5) / 35.0, 1e-12);
    EXPECT_NEAR(dense.held_out.inside, 27.0 / 35.0, 1e-12);
    EXPECT_EQ(dense.sources, 3);
    EXPECT_NEAR(dense.median_source, 0.10, 1e-12);
    EXPECT_NEAR(dense.worst_source, 0.10, 1e-12);  // b has four rows only
    EXPECT_EQ(dense.worst_name, "d");
    EXPECT_EQ(kinds.back().sources, 0);
    EXPECT_TRUE(std::isnan(kinds.back().median_source));
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
    EXPECT_NEAR(a.rank_correlation, 0.5, 1e-12);        // ranks 1 2 3 and 2 1 3
    model.runs[2].run.phases.front().global_batch = 7;  // another batch: two plans are no choice
    EXPECT_TRUE(accuracy_by_source(model).front().regrets.empty());
    EXPECT_TRUE(std::isnan(accuracy_by_source(model).front().largest_regret()));
}

}  // namespace
}  // namespace prismopt
