#include "optimizer/loop/progress.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(Progress, ComesAtGrowingIntervals)
{
    EXPECT_DOUBLE_EQ(output_interval_s(0.0, 5.0, 300.0), 5.0);
    EXPECT_DOUBLE_EQ(output_interval_s(50.0, 5.0, 300.0), 5.0);
    EXPECT_DOUBLE_EQ(output_interval_s(600.0, 5.0, 300.0), 60.0);
    EXPECT_DOUBLE_EQ(output_interval_s(86'400.0, 5.0, 300.0), 300.0);
    EXPECT_DOUBLE_EQ(output_interval_s(86'400.0, 0.2, 0.0), 0.2) << "a bar on a terminal";
}

}  // namespace
}  // namespace prismopt
