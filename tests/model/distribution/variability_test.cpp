#include "model/distribution/variability.hpp"

#include "tests/support/example_problem.hpp"

#include <gtest/gtest.h>

#include <cmath>

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
    kernel.residual[0] = Distribution{Normal{0.01}, {0.02, 50.0}, 100.0, "test"};
    EXPECT_TRUE(quantiles_reach_means(kernel, 0.99));
    EXPECT_FALSE(quantiles_reach_means(kernel, 0.95));
}

/// A mode of probability p that makes all of the variance has the skewness of a Bernoulli
/// draw, (1 - 2 p) / sqrt(p (1 - p)).
TEST(Variability, RareModesAreSkewed)
{
    Variability v;
    EXPECT_EQ(largest_skewness(v), 0.0);
    v.gpu = {Normal{1e-4}, {}, 20.0, ""};
    EXPECT_NEAR(largest_skewness(v), 0.0, 1e-6);
    constexpr double p = 1e-4;
    v.gpu.slow = {p, 10.0};
    EXPECT_NEAR(largest_skewness(v), (1.0 - 2.0 * p) / std::sqrt(p * (1.0 - p)), 0.1);
}

}  // namespace
}  // namespace prismopt
