#include "model/run/changes/step_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace prismopt {
namespace {

TEST(Autocovariances, FindTheCoefficientsOfAnAutoregression)
{
    std::mt19937_64 generator(1);
    std::normal_distribution<double> normal;
    Autocovariances sums;
    double one = 0.0;
    double two = 0.0;
    constexpr int count = 20000;
    for (int i = 0; i < count; ++i) {
        const double value = 0.4 * one + 0.2 * two + normal(generator);
        sums.add(value);
        two = one;
        one = value;
    }
    const Autoregression fit = sums.fit();
    ASSERT_GE(fit.coefficients.size(), 2U);
    const double margin = 4.0 / std::sqrt(count);  // four standard errors
    EXPECT_NEAR(fit.coefficients[0], 0.4, margin);
    EXPECT_NEAR(fit.coefficients[1], 0.2, margin);
    EXPECT_NEAR(fit.long_run_deviation(), 1.0 / 0.4, 0.25);
    EXPECT_GT(fit.variance_allowance(), 1.0);
}

}  // namespace
}  // namespace prismopt
