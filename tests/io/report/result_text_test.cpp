#include "io/report/result_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace prismopt {
namespace {

TEST(ResultText, HasTheUnitAndTheDigitsOfItsRow)
{
    PlanResults results;
    Prediction& p = results.prediction;
    p.mfu = 0.4132;
    p.shares.bubble = 0.0002;
    p.noise_free_step_s = 0.0149514746;
    p.peak_tflops_per_gpu = 989.4;
    p.tokens_per_second = 2.7334e6;
    p.memory.parameters = Bytes{6.43e9};
    p.run.young_s = 5298.0;
    p.cost_usd = Estimate::exact(893.71e6);
    EXPECT_EQ(number_text(results, "mfu"), "41.3 %");
    EXPECT_EQ(number_figure(results, "mfu"), "41.3");
    EXPECT_EQ(number_text(results, "bubble_share"), "<0.1 %");
    EXPECT_EQ(number_text(results, "noise_free_step_time"), "14.95 ms");
    EXPECT_EQ(number_text(results, "peak_tflops_per_gpu"), "989 TFLOP/s");
    EXPECT_EQ(number_figure(results, "tokens_per_second"), "2.733e+06");
    EXPECT_EQ(number_text(results, "memory_parameters"), "6.4 GB");
    EXPECT_EQ(number_text(results, "young_interval"), "88.3 min");
    EXPECT_EQ(estimate_text(results, "cost"), "893.7 M USD");
}

TEST(ResultText, WithoutFailuresThereIsNoTimeBetweenThem)
{
    PlanResults results;
    results.prediction.run.mean_time_between_failures_s = std::numeric_limits<double>::infinity();
    EXPECT_EQ(number_text(results, "mean_time_between_failures"), "never");
}

}  // namespace
}  // namespace prismopt
