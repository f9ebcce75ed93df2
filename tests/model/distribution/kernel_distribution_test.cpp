#include "model/distribution/kernel_distribution.hpp"

#include "model/distribution/distribution.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace prismopt {
namespace {

KernelDistribution distribution_of(const Family& family, const SlowMode& slow = {})
{
    const DistributionQuantile quantile(Distribution{family, slow, 20.0, "test"});
    return KernelDistribution([&quantile](double p, bool upper) { return quantile(p, upper); });
}

/// The quantile at a probability, between knots in a straight line.
double quantile(const KernelDistribution& distribution, double p)
{
    double below = KernelDistribution::beyond;
    for (std::size_t k = 0; k < distribution.pieces(); ++k) {
        if (below + distribution.mass(k) >= p) {
            return distribution.quantile(k) + (distribution.quantile(k + 1) - distribution.quantile(k)) *
                                                  (p - below) / distribution.mass(k);
        }
        below += distribution.mass(k);
    }
    return distribution.quantile(distribution.pieces());
}

/// Quantiles of distributions at one draw add up; knots are not the same where one of them jumps.
TEST(KernelDistribution, OfOneDrawAddsQuantiles)
{
    const KernelDistribution narrow = distribution_of(LogNormal{0.05});
    const KernelDistribution wide = distribution_of(Gamma{0.5});
    const KernelDistribution slow = distribution_of(LogNormal{0.03}, {0.01, 2.0});
    const KernelDistribution constant;
    const std::array shares{KernelDistribution::Share{0.4, &narrow}, KernelDistribution::Share{0.3, &wide},
                            KernelDistribution::Share{0.2, &slow}, KernelDistribution::Share{0.1, &constant}};
    const KernelDistribution sum = KernelDistribution::of_one_draw(shares);
    double mass = 0.0;
    double mean = 0.0;
    double second = 0.0;
    for (std::size_t k = 0; k < sum.pieces(); ++k) {
        const double low = sum.quantile(k) - 1.0;
        const double high = sum.quantile(k + 1) - 1.0;
        EXPECT_LE(low, high);
        mass += sum.mass(k);
        mean += sum.mass(k) * 0.5 * (low + high);
        second += sum.mass(k) * (low * low + low * high + high * high) / 3.0;
    }
    EXPECT_NEAR(mass, 1.0, 1e-12);
    EXPECT_NEAR(mean, 0.0, 1e-12);
    EXPECT_NEAR(sum.cv(), std::sqrt(second), 1e-12);
    for (const double p : {1e-9, 1e-3, 0.1, 0.37, 0.5, 0.9, 0.98999, 0.99, 0.991, 0.999, 1.0 - 1e-6}) {
        const double expected =
            0.4 * quantile(narrow, p) + 0.3 * quantile(wide, p) + 0.2 * quantile(slow, p) + 0.1;
        EXPECT_NEAR(quantile(sum, p), expected, 1e-9) << p;
    }
}

TEST(KernelDistribution, OfOneDrawWithItselfIsTheSame)
{
    const KernelDistribution distribution = distribution_of(LogNormal{0.2});
    const std::array shares{KernelDistribution::Share{0.25, &distribution},
                            KernelDistribution::Share{0.75, &distribution}};
    const KernelDistribution sum = KernelDistribution::of_one_draw(shares);
    ASSERT_EQ(sum.pieces(), distribution.pieces());
    EXPECT_NEAR(sum.cv(), distribution.cv(), 1e-12);
    EXPECT_NEAR(sum.core(), distribution.core(), 1e-12);
    for (std::size_t k = 0; k < distribution.pieces(); ++k) {
        EXPECT_EQ(sum.mass(k), distribution.mass(k));
        EXPECT_NEAR(sum.quantile(k), distribution.quantile(k), 1e-12);
    }
}

}  // namespace
}  // namespace prismopt
