#include "optimizer/accuracy/check_model.hpp"

#include "optimizer/accuracy/model_accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

/// The table that ships: Megatron 22B, 175B, 530B, 1T with two kinds of recompute, and two rows of Llama 3. Held with a margin on
/// what the fit reached; constants belong to accelerators, stacks and links alone.
TEST(CheckModel, ShippedRunsAreMatched)
{
    const CheckedModel checked = check_model(shipped_runs());
    ASSERT_EQ(checked.runs.size(), 10U);
    EXPECT_TRUE(checked.skipped.empty());
    for (const CheckedRun& run : checked.runs) {
        EXPECT_LT(std::abs(run.relative_error()), 0.08)
            << run.run.row << ": " << run.predicted_s << " s, measured " << run.run.measured_s << " s";
        EXPECT_GE(run.predicted_s, 0.99 * run.noise_free_s) << run.run.row;  // noise lengthens; 256 draws are good to 1 %
    }
    const SourceAccuracy total = accuracy_by_source(checked).back();
    EXPECT_LT(total.mean_absolute, 0.035);
}

}  // namespace
}  // namespace prismopt
