#include "model/distribution/kernel_law.hpp"

#include "model/distribution/distribution.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace prismopt {
namespace {

KernelLaw law_of(const Family& family, const SlowMode& slow = {})
{
    const LawQuantile quantile(Law{family, slow, 20.0, "test"});
    return KernelLaw([&quantile](double p, bool upper) { return quantile(p, upper); });
}

/// The quantile at a probability, between knots in a straight line.
double quantile(const KernelLaw& law, double p)
{
    double below = KernelLaw::beyond;
    for (std::size_t k = 0; k < law.pieces(); ++k) {
        if (below + law.mass(k) >= p) {
            return law.quantile(k) + (law.quantile(k + 1) - law.quantile(k)) * (p - below) / law.mass(k);
        }
        below += law.mass(k);
    }
    return law.quantile(law.pieces());
}

/// Quantiles of laws at one draw add up; knots are not the same where one of them jumps.
TEST(KernelLaw, OfOneDrawAddsQuantiles)
{
    const KernelLaw narrow = law_of(LogNormal{0.05});
    const KernelLaw wide = law_of(Gamma{0.5});
    const KernelLaw slow = law_of(LogNormal{0.03}, {0.01, 2.0});
    const KernelLaw constant;
    const std::array shares{KernelLaw::Share{0.4, &narrow}, KernelLaw::Share{0.3, &wide}, KernelLaw::Share{0.2, &slow},
                            KernelLaw::Share{0.1, &constant}};
    const KernelLaw sum = KernelLaw::of_one_draw(shares);
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
        const double expected = 0.4 * quantile(narrow, p) + 0.3 * quantile(wide, p) + 0.2 * quantile(slow, p) + 0.1;
        EXPECT_NEAR(quantile(sum, p), expected, 1e-9) << p;
    }
}

TEST(KernelLaw, OfOneDrawWithItselfIsTheSame)
{
    const KernelLaw law = law_of(LogNormal{0.2});
    const std::array shares{KernelLaw::Share{0.25, &law}, KernelLaw::Share{0.75, &law}};
    const KernelLaw sum = KernelLaw::of_one_draw(shares);
    ASSERT_EQ(sum.pieces(), law.pieces());
    EXPECT_NEAR(sum.cv(), law.cv(), 1e-12);
    EXPECT_NEAR(sum.core(), law.core(), 1e-12);
    for (std::size_t k = 0; k < law.pieces(); ++k) {
        EXPECT_EQ(sum.mass(k), law.mass(k));
        EXPECT_NEAR(sum.quantile(k), law.quantile(k), 1e-12);
    }
}

}  // namespace
}  // namespace prismopt
