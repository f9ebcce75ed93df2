#include "model/run/changes/step_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

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
    EXPECT_EQ(fit.mean_deviation(1.0), fit.deviation);  // the mean of few values is no more certain than one
    EXPECT_NEAR(fit.mean_deviation(1e4), fit.long_run_deviation() / 1e2, 0.001);
}

TEST(Autocovariances, FindLongMemoryInShortSeries)
{
    constexpr double coefficient = 0.9;
    constexpr int count = 200;
    constexpr int series = 200;
    double mean = 0.0;
    for (int seed = 0; seed < series; ++seed) {
        std::mt19937_64 generator(static_cast<std::uint64_t>(seed));
        std::normal_distribution<double> normal;
        std::vector<double> values;
        double value = normal(generator) / std::sqrt(1.0 - coefficient * coefficient);
        double sum = 0.0;
        for (int i = 0; i < count; ++i) {
            value = coefficient * value + normal(generator);
            values.push_back(value);
            sum += value;
        }
        Autocovariances sums;
        for (const double v : values) {
            sums.add(v - sum / count);
        }
        mean += (1.0 - sums.fit().gain()) / series;
    }
    // Without its correction, the mean is too small by (1 + 4 * 0.9) / 200; a single fit errs by about 0.03.
    EXPECT_NEAR(mean, coefficient, 0.01);
}

}  // namespace
}  // namespace prismopt
