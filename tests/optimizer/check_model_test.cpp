#include "optimizer/check_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

/// Each published run within 10 %, with constants that belong to the accelerator and its links alone.
TEST(CheckModel, EveryPublishedRunIsWithinTenPerCent)
{
    const auto runs = check_model();
    ASSERT_EQ(runs.size(), 10U);  // Megatron 22B, 175B, 530B, 1T with two kinds of recompute; two rows of Llama 3
    for (const CheckedRun& run : runs) {
        EXPECT_LT(std::abs(run.relative_error()), 0.10)
            << run.run.name << ": " << run.predicted_s << " s, measured " << run.measured_s << " s";
    }
}

}  // namespace
}  // namespace prismopt
