#include "model/noise/variability.hpp"

#include "tests/support/example_problem.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(Variability, SaysWhetherAQuantileReachesTheMean)
{
    EXPECT_TRUE(quantiles_reach_means(Variability{}, 0.99));  // nothing varies
    EXPECT_TRUE(quantiles_reach_means(lively_variability(), 0.95));
    // One step in 200 is 51 times as long: the mean is 1.25 ordinary steps, the p99 an ordinary one.
    Variability rare = lively_variability();
    rare.common_step = {Normal{0.01}, {0.005, 50.0}, 100.0, "test"};
    EXPECT_FALSE(quantiles_reach_means(rare, 0.99));
    EXPECT_TRUE(quantiles_reach_means(rare, 0.999));
    Variability kernel = lively_variability();
    kernel.residual[0] = {Normal{0.01}, {0.02, 50.0}, 100.0, "test"};
    EXPECT_TRUE(quantiles_reach_means(kernel, 0.99));
    EXPECT_FALSE(quantiles_reach_means(kernel, 0.95));
}

}  // namespace
}  // namespace prismopt
