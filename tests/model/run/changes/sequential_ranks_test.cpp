#include "model/run/changes/sequential_ranks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace prismopt {
namespace {

TEST(SequentialRanks, ScoreByRanks)
{
    SequentialRanks ranks;
    EXPECT_NEAR(ranks.score(0.3), 0.0, 1e-12);
    EXPECT_NEAR(ranks.score(0.5), 0.6744898, 1e-6);    // 2nd of 2: the quantile of 3/4
    EXPECT_NEAR(ranks.score(-9.0), -0.9674216, 1e-6);  // 1st of 3: of 1/6
    EXPECT_NEAR(ranks.score(0.3), 0.0, 1e-12);         // 2nd and 3rd of 4
    EXPECT_GT(ranks.score(100.0), 1.0);
}

TEST(SequentialRanks, AreNormalWhateverTheDistribution)
{
    std::mt19937_64 generator(1);
    std::exponential_distribution<double> skewed;
    SequentialRanks ranks;
    double sum = 0.0;
    double squares = 0.0;
    double cubes = 0.0;
    constexpr int count = 50'000;
    for (int i = 0; i < count; ++i) {
        const double z = ranks.score(skewed(generator) - 1.0);
        sum += z / count;
        squares += z * z / count;
        cubes += z * z * z / count;
    }
    const double error = 1.0 / std::sqrt(count);
    EXPECT_NEAR(sum, 0.0, 4.0 * error);
    EXPECT_NEAR(squares, 1.0, 4.0 * std::sqrt(2.0) * error + 0.01);
    EXPECT_NEAR(cubes, 0.0, 4.0 * std::sqrt(15.0) * error);
}

}  // namespace
}  // namespace prismopt
