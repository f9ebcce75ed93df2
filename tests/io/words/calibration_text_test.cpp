#include "io/words/calibration_text.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(CalibrationText, HasASentenceForEachNote)
{
    EXPECT_EQ(
        note_text(TrendNote{0.0312}),
        "steps take 3.12 % longer at the end than at the beginning; all steps are used, and slow changes "
        "count as drift");
    EXPECT_EQ(
        note_text(TrendNote{-0.02}),
        "steps take 2 % less at the end than at the beginning; all steps are used, and slow changes count "
        "as drift");
    const std::string after_share =
        "; the distribution of node includes this as slow_probability, for a random sample of nodes. For a "
        "job "
        "on exactly these nodes, remove slow_probability and slow_excess and write in [cluster], with the "
        "node's number: slow_nodes = [{ node = 0, factor = 1.25 }]";
    EXPECT_EQ(note_text(SlowShare{.key = "node", .slow = 2, .all = 50, .excess = 0.25}),
              "2 of 50 nodes are permanently slow" + after_share);
    EXPECT_TRUE(note_text(SlowShare{.key = "gpu", .slow = 1, .all = 400, .excess = 0.2})
                    .starts_with("1 of 400 GPUs is permanently slow; the distribution of gpu includes"));
    EXPECT_EQ(note_text(ThrottlingGpu{"GPU of rank 3", 0.3, 0.2}),
              "GPU of rank 3 is slow in 30 % of steps, by 20 %");
    EXPECT_EQ(
        note_text(GrowthNote{.exponent = 0.5, .low = 0.1, .high = 0.9, .measured = true, .members = 16.0}),
        "long times of collectives grow in number as members^0.50 (0.10 to 0.90, 95 %); the distributions "
        "hold for 16 members; --members N carries them to others");
    EXPECT_EQ(
        note_text(GrowthNote{.exponent = 0.5, .low = 0.1, .high = 0.9, .members = 64.0, .carried = true}),
        "long times of collectives grow in number as members^0.50 (0.10 to 0.90, 95 %, not measured: give "
        "several numbers of members); the distributions hold for 64 members");
    EXPECT_EQ(note_text(FastNote{.gpu = "GPU 3 of node n17", .less = 0.2, .more = 2}),
              "GPU 3 of node n17 takes 20 % less than its peers' median, 2 more as significantly; if the "
              "numbers are throughputs rather than times, it is slow: name the column throughput");
    EXPECT_EQ(note_text(std::string("a remark")), "a remark");
}

TEST(CalibrationText, HasASentenceForWhatIsNotFitted)
{
    EXPECT_EQ(not_fitted_text(UnknownComponent::single_step), "a single step does not show how steps vary");
    EXPECT_EQ(not_fitted_text(UnknownComponent::single_gpu),
              "with a single GPU, the shared part cannot be separated");
    EXPECT_EQ(not_fitted_text(UnknownComponent::no_recurrence),
              "no compute kernels that recur in every step");
    EXPECT_EQ(not_fitted_text(UnknownComponent::own_kernels), "no kernels that run on several GPUs");
    EXPECT_EQ(not_fitted_text(UnknownComponent::no_freedom), "the trace cannot determine it");
    EXPECT_EQ(not_fitted_text(UnknownComponent::no_interval), "a single step gives no confidence interval");
    EXPECT_EQ(
        not_fitted_text(FewUnits{"stages in a step"}),
        "differences between stages in a step are not significant, but there are too few measurements to "
        "call them zero");
    EXPECT_EQ(not_fitted_text(OncePerStep{"optimizer"}),
              "only operations that occur once per step (optimizer)");
    EXPECT_EQ(not_fitted_text(OperationsOnly{}),
              "the trace has one duration per operation, not per kernel; see operation");
    EXPECT_EQ(
        not_fitted_text(RunsOnly{0.00191, "runs.csv"}),
        "benchmark runs do not resolve single kernels, whose variation averages out; about the median of "
        "their GPU, runs vary by 0.191 %; prismopt calibrate, runs.csv");
}

}  // namespace
}  // namespace prismopt
