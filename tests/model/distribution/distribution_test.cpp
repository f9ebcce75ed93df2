/// What is particular to each family; what all have in common is in families_test.cpp.

#include "model/distribution/distribution.hpp"

#include <gtest/gtest.h>
#include <boost/math/distributions/extreme_value.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/pareto.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/distributions/weibull.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace prismopt {
namespace {

TEST(DistributionQuantile, OfFamiliesMatchesBoost)
{
    const DistributionQuantile normal({Normal{0.1}, {}, 20.0, ""});
    const DistributionQuantile lognormal({LogNormal{0.3}, {}, 20.0, ""});
    const DistributionQuantile gamma({Gamma{0.5}, {}, 20.0, ""});
    const double log_variance = std::log(1.0 + 0.09);
    const boost::math::normal n(1.0, 0.1);
    const boost::math::lognormal l(-0.5 * log_variance, std::sqrt(log_variance));
    const boost::math::gamma_distribution<> g(4.0, 0.25);
    for (const double p : {1e-9, 1e-4, 0.01, 0.3}) {
        EXPECT_NEAR(normal(p, false), quantile(n, p), 1e-6);
        EXPECT_NEAR(normal(p, true), quantile(complement(n, p)), 1e-6);
        EXPECT_NEAR(lognormal(p, false), quantile(l, p), 1e-6);
        EXPECT_NEAR(lognormal(p, true), quantile(complement(l, p)), 1e-5);
        EXPECT_NEAR(gamma(p, false), std::max(1e-3, quantile(g, p)), 1e-6);  // factors are at least 1e-3
        EXPECT_NEAR(gamma(p, true), quantile(complement(g, p)), 1e-5);
    }
}

/// With cv = 1 the gamma distribution is exponential: Q = -log(1 - p), but for
/// factors below the smallest, 1e-3.
TEST(DistributionQuantile, GammaOfCvOneIsExponential)
{
    const DistributionQuantile q({Gamma{1.0}, {}, 1000.0, ""});
    for (const double p : {1e-9, 1e-4, 0.01, 0.3}) {
        EXPECT_NEAR(q(p, true), -std::log(p), 2e-5);
    }
}

TEST(DistributionQuantile, OfAPoolGoesThroughItsSortedRatios)
{
    const std::vector<double> sorted{1.0, 2.0, 4.0, 9.0};  // mean 4
    const DistributionQuantile q({Empirical{{9.0, 2.0, 1.0, 4.0}}, {}, 20.0, ""});
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const double p = (static_cast<double>(i) + 0.5) / 4.0;
        EXPECT_NEAR(q(p, false), sorted[i] / 4.0, 1e-4);
        EXPECT_NEAR(q(1.0 - p, true), sorted[i] / 4.0, 1e-4);
    }
    EXPECT_NEAR(q(0.5, false), 3.0 / 4.0, 1e-4);
    EXPECT_NEAR(q(1e-9, true), 9.0 / 4.0, 1e-4);
}

/// The survival function of the mixture (1 - q) X + q (1 + excess) X, at its
/// quantile, is the probability again.
TEST(DistributionQuantile, OfAMixtureInvertsItsSurvival)
{
    const SlowMode slow{0.05, 0.5};
    const DistributionQuantile q({LogNormal{0.1}, slow, 20.0, ""});
    const double log_variance = std::log(1.01);
    const boost::math::lognormal core(-0.5 * log_variance, std::sqrt(log_variance));
    const double mean = 1.0 + slow.probability * slow.excess;
    for (const double p : {1e-9, 1e-5, 0.01, 0.049, 0.051, 0.2, 0.49}) {
        const double x = q(p, true) * mean;
        const double survival = (1.0 - slow.probability) * cdf(complement(core, x)) +
                                slow.probability * cdf(complement(core, x / (1.0 + slow.excess)));
        EXPECT_NEAR(survival / p, 1.0, 1e-4) << p;
    }
}

TEST(DistributionQuantile, OfTwoPointsHasTheirProbabilities)
{
    const DistributionQuantile q({Constant{}, {0.2, 1.0}, 20.0, ""});
    EXPECT_NEAR(q(0.199, true), 2.0 / 1.2, 1e-9);
    EXPECT_NEAR(q(0.201, true), 1.0 / 1.2, 1e-9);
    EXPECT_NEAR(q(0.001, false), 1.0 / 1.2, 1e-9);
}

TEST(DistributionQuantile, WithoutSpreadIsAConstant)
{
    const std::vector<Family> families{Constant{}, Normal{0.0}, LogNormal{0.0}, Gamma{0.0}, Empirical{{7.0}}};
    for (const Family& family : families) {
        const DistributionQuantile q({family, {}, 20.0, ""});
        EXPECT_TRUE(q.constant());
        for (const double p : {1e-9, 0.1, 0.5, 0.999}) {
            EXPECT_EQ(q(p, false), 1.0);
            EXPECT_EQ(q(p, true), 1.0);
        }
        EXPECT_FALSE(DistributionQuantile({family, {0.1, 0.5}, 20.0, ""}).constant());
    }
}

/// Ratios to the median do not depend on the normalisation.
template <class Reference>
void expect_ratios(const Distribution& distribution, const Reference& d, double scale = 1.0,
                   double shift = 0.0)
{
    const DistributionQuantile q(distribution);
    const double median = shift + scale * quantile(d, 0.5);
    for (const double p : {1e-12, 1e-9, 1e-4, 0.01, 0.3}) {
        const double low = shift + scale * quantile(d, p);
        // Factors are at least 1e-3.
        EXPECT_NEAR(q(p, false) / q(0.5, false), std::max(1e-3, low) / median, 1e-9) << p;
        const double high = (shift + scale * quantile(complement(d, p))) / median;
        EXPECT_NEAR(q(p, true) / q(0.5, false), high, 1e-9 * high) << p;
    }
}

TEST(DistributionQuantile, OfMoreFamiliesMatchesBoost)
{
    expect_ratios({Weibull{1.0}, {}, 1e3, ""}, boost::math::weibull(1.0));
    // Shape 2 (Rayleigh): cv^2 = 4 / pi - 1, mean sqrt(pi) / 2.
    expect_ratios({Weibull{std::sqrt(4.0 / std::acos(-1.0) - 1.0)}, {}, 1e3, ""}, boost::math::weibull(2.0),
                  2.0 / std::sqrt(std::acos(-1.0)));
    expect_ratios({ShiftedGamma{0.2, 0.6}, {}, 1e3, ""}, boost::math::gamma_distribution<>(4.0), 0.1, 0.6);
    expect_ratios({StudentT{30.0, 0.01}, {}, 1e3, ""}, boost::math::students_t(30.0), 0.01, 1.0);
    const double median = -std::log(std::log(2.0));
    expect_ratios({GeneralizedExtremeValue{0.0, 0.02}, {}, 1e3, ""}, boost::math::extreme_value(0.0, 1.0),
                  0.02, 1.0 - 0.02 * median);
}

/// Student's t of one degree of freedom is Cauchy's distribution: F = 1/2 + atan((x - 1) / s) / pi, and the
/// integral of x dF is F + s / (2 pi) log(1 + ((x - 1) / s)^2). Cut to (0, cap], factors below 1e-3 raised.
TEST(DistributionQuantile, OfCauchysDistributionHasItsMeanAfterTruncation)
{
    const double pi = std::acos(-1.0);
    for (const double s : {0.003, 0.02, 0.5}) {
        for (const double cap : {1.5, 20.0, 1e6}) {
            const auto below = [&](double x) { return 0.5 + std::atan((x - 1.0) / s) / pi; };
            const auto integral = [&](double x) {
                return below(x) + s / (2.0 * pi) * std::log1p((x - 1.0) * (x - 1.0) / (s * s));
            };
            constexpr double floor = 1e-3;
            const double share = below(cap) - below(0.0);
            const double mean =
                (integral(cap) - integral(floor) + floor * (below(floor) - below(0.0))) / share;
            const DistributionQuantile q({StudentT{1.0, s}, {}, cap, ""});
            EXPECT_NEAR(q.longest(), cap / mean, 1e-10 * cap / mean) << s << " " << cap;
            EXPECT_NEAR(q.probability(1.0, true), (below(cap) - below(mean)) / share, 1e-10)
                << s << " " << cap;
        }
    }
}

/// X = 1 with probability 1 - q, else Pareto from 1 (with shape a: P(X > x) = x^-a), which is generalized
/// Pareto with shape and scale 1 / a. Cut at c: mean (1 - q + q a (1 - c^(1 - a)) / (a - 1)) / (1 - q c^-a),
/// and for a = 1 (1 - q + q log c) / (1 - q / c).
TEST(DistributionQuantile, OfAParetoTailHasItsMeanAfterTruncation)
{
    const Mixture core{{{1.0, 1.0, Constant{}}}};
    const double q = 0.1;
    for (const double a : {0.5, 1.0, 1.5, 3.0}) {
        for (const double cap : {2.0, 20.0, 1e4}) {
            const double tail = a == 1.0 ? std::log(cap) : a * (1.0 - std::pow(cap, 1.0 - a)) / (a - 1.0);
            const double mean = (1.0 - q + q * tail) / (1.0 - q * std::pow(cap, -a));
            const DistributionQuantile distribution({ParetoTail{core, q, 1.0 / a, 1.0 / a}, {}, cap, ""});
            EXPECT_NEAR(distribution.longest(), cap / mean, 1e-10 * cap / mean) << a << " " << cap;
            if (cap == 1e4) {
                const boost::math::pareto d(1.0, a);
                const double beyond = cdf(complement(d, cap));
                for (const double p : {1e-9, 1e-4, 0.05}) {
                    // of the Pareto distribution
                    const double untruncated = (q * beyond + p * (1.0 - q * beyond)) / q;
                    EXPECT_NEAR(distribution(p, true) * mean, quantile(complement(d, untruncated)),
                                1e-8 * cap)
                        << a << " " << p;
                }
            }
        }
    }
}

TEST(DistributionQuantile, OfTwoModesHasTheMomentsOfBoth)
{
    const DistributionQuantile q(
        {Mixture{{{0.75, 1.0, Normal{0.02}}, {0.25, 1.4, Normal{0.05}}}}, {}, 20.0, ""});
    const double mean = 0.75 + 0.25 * 1.4;
    const double second = 0.75 * (1.0 + 0.0004) + 0.25 * 1.96 * (1.0 + 0.0025);
    EXPECT_NEAR(q.longest(), 20.0 / mean, 1e-10);
    EXPECT_NEAR(q.moments().variance, second / mean / mean - 1.0, 1e-11);
    const double third = 0.75 * (1.0 + 3.0 * 0.0004) + 0.25 * 2.744 * (1.0 + 3.0 * 0.0025);
    EXPECT_NEAR(q.moments().third,
                (third - 3.0 * mean * second + 2.0 * mean * mean * mean) / (mean * mean * mean), 1e-11);
}

/// Truncation is conditional: nothing is set to the cap, and what remains keeps its proportions.
TEST(DistributionQuantile, IsTruncatedOnCondition)
{
    const DistributionQuantile cut({Gamma{1.0}, {}, 2.0, ""});  // exponential
    const double mass = -std::expm1(-2.0);
    const double scale = 2.0 / cut.longest();
    for (const double p : {1e-9, 1e-3, 0.1, 0.5, 0.9}) {
        EXPECT_NEAR(cut(p, true) * scale, -std::log(std::exp(-2.0) + p * mass), 1e-9) << p;
    }
    EXPECT_LT(cut(1e-3, true), cut(1e-6, true));
}

TEST(DistributionQuantile, RefusesImpossibleParameters)
{
    const Mixture core{{{1.0, 1.0, LogNormal{0.05}}}};
    const std::vector<Family> impossible{Weibull{-0.1},
                                         ShiftedGamma{0.1, 1.0},
                                         ShiftedGamma{-0.1, 0.5},
                                         StudentT{0.9, 0.1},
                                         StudentT{2.0, -0.1},
                                         GeneralizedExtremeValue{0.1, -0.1},
                                         ParetoTail{core, 0.0, 0.1, 0.1},
                                         ParetoTail{core, 0.1, 0.1, 0.0},
                                         Empirical{},
                                         Empirical{{1.0, -1.0}},
                                         Mixture{},
                                         Mixture{{{0.5, 1.0, Constant{}}, {0.4, 1.0, Constant{}}}},
                                         Mixture{{{1.0, 0.0, Constant{}}}},
                                         Normal{-0.1},
                                         LogNormal{-0.1},
                                         Gamma{-0.1}};
    for (std::size_t i = 0; i < impossible.size(); ++i) {
        EXPECT_THROW(DistributionQuantile({impossible[i], {}, 20.0, ""}), std::domain_error) << i;
    }
    EXPECT_THROW(DistributionQuantile({Normal{0.01}, {}, 0.5, ""}), std::domain_error);
}

}  // namespace
}  // namespace prismopt
