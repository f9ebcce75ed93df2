#include "model/base/deconvolution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace prismopt {
namespace {

constexpr std::size_t count = 4096;
constexpr double bin = deconvolution_bin;

std::vector<double> normals(double deviation, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0.0, deviation);
    std::vector<double> values(count);
    std::generate(values.begin(), values.end(), [&] { return normal(random); });
    return values;
}

double quantile(const std::vector<double>& ascending, double probability)
{
    return ascending[static_cast<std::size_t>(probability * count)];
}

TEST(Deconvolution, WithoutNoiseTheDistributionIsTheSums)
{
    std::vector<double> sums = normals(1.0, 1);
    std::sort(sums.begin(), sums.end());
    const std::vector<double> found = deconvolved(sums, std::vector<double>{0.0}, std::vector<double>{0.0});
    ASSERT_EQ(found.size(), count);
    for (const double p : {0.01, 0.5, 0.95, 0.99}) {
        EXPECT_NEAR(quantile(found, p), quantile(sums, p), 0.5 * bin) << p;
    }
}

/// Two modes under noise as wide as half their distance, from a start that knows of one.
TEST(Deconvolution, FindsModesThatNoiseHides)
{
    constexpr double slow = 0.1;
    constexpr double distance = 3.0;
    std::vector<double> sums = normals(0.75, 2);
    std::mt19937_64 random(3);
    std::bernoulli_distribution is_slow(slow);
    const std::vector<double> own = normals(0.1, 4);
    for (std::size_t i = 0; i < count; ++i) {
        sums[i] += own[i] + (is_slow(random) ? distance : 0.0) - slow * distance;
    }
    const std::vector<double> found = deconvolved(sums, normals(0.75, 5), normals(1.0, 6));
    // Ten rounds leave each mode some bins wide: their middles are known to two
    // bins, of the small one to three.
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    EXPECT_NEAR(quantile(found, 0.5), -slow * distance, 2.0 * bin);
    EXPECT_NEAR(quantile(found, 0.97), (1.0 - slow) * distance, 3.0 * bin);
    EXPECT_LT(quantile(found, 0.80), 0.25 * distance);  // nothing between them
    EXPECT_GT(quantile(found, 0.93), 0.55 * distance);
}

/// Where noise is nearly all, the sums cannot distinguish the start from another distribution.
TEST(Deconvolution, StaysNearTheStartUnderMuchNoise)
{
    const std::vector<double> start = normals(0.3, 7);
    std::vector<double> sums = normals(0.95, 8);
    const std::vector<double> own = normals(0.3, 9);
    for (std::size_t i = 0; i < count; ++i) {
        sums[i] += own[i];
    }
    const std::vector<double> found = deconvolved(sums, normals(0.95, 10), start);
    // The start's own quantiles, to the grid's rounding of start and result.
    EXPECT_NEAR(quantile(found, 0.99), 2.326 * 0.3, 2.0 * bin);
    EXPECT_NEAR(quantile(found, 0.5), 0.0, bin);
}

}  // namespace
}  // namespace prismopt
