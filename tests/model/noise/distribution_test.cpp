/// One contract over all families, then what is particular to each.

#include "model/noise/distribution.hpp"

#include <gtest/gtest.h>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace prismopt {
namespace {

struct Case {
    const char* name;
    Law law;
    double cv;  // that was asked for; 0 where the cap or a slow mode changes it
};

std::vector<Case> cases()
{
    const SlowMode slow{0.0128, 0.089};
    const SlowMode often{0.2, 1.0};
    const std::vector<double> pool{3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0};
    return {{"constant", {Constant{}, {}, 20.0, ""}, 0.0},
            {"normal", {Normal{0.1}, {}, 20.0, ""}, 0.1},
            {"normal cut at zero", {Normal{0.8}, {}, 20.0, ""}, 0.0},
            {"lognormal", {LogNormal{0.3}, {}, 20.0, ""}, 0.3},
            {"lognormal capped", {LogNormal{1.0}, {}, 3.0, ""}, 0.0},
            {"gamma", {Gamma{0.5}, {}, 20.0, ""}, 0.5},
            {"gamma, more than exponential", {Gamma{1.2}, {}, 200.0, ""}, 1.2},
            {"empirical", {Empirical{pool}, {}, 20.0, ""}, 0.0},
            {"constant, rarely slow", {Constant{}, slow, 20.0, ""}, 0.0},
            {"constant, often slow", {Constant{}, often, 20.0, ""}, 0.0},
            {"normal, rarely slow", {Normal{0.016}, slow, 20.0, ""}, 0.0},
            {"lognormal, often slow", {LogNormal{0.2}, often, 20.0, ""}, 0.0},
            {"gamma, often slow", {Gamma{0.2}, often, 20.0, ""}, 0.0},
            {"empirical, often slow", {Empirical{pool}, often, 20.0, ""}, 0.0}};
}

/// Mean and deviation by the midpoint rule in p, fine towards both ends: p = x^3 from either side.
struct Spread {
    double mean = 0.0;
    double deviation = 0.0;
};
Spread integrated(const LawQuantile& q)
{
    constexpr int steps = 5000;
    const double top = std::cbrt(0.5);
    double mean = 0.0;
    double square = 0.0;
    for (const bool upper : {false, true}) {
        for (int i = 0; i < steps; ++i) {
            const double low = top * i / steps;
            const double high = top * (i + 1) / steps;
            const double x = 0.5 * (low + high);
            const double value = q(x * x * x, upper);
            const double weight = high * high * high - low * low * low;
            mean += weight * value;
            square += weight * value * value;
        }
    }
    return {mean, std::sqrt(std::max(0.0, square - mean * mean))};
}

TEST(LawQuantile, RisesFromTailToTail)
{
    for (const Case& c : cases()) {
        const LawQuantile q(c.law);
        double last = 0.0;
        for (int i = -330; i <= 330; ++i) {
            const double tail = 0.5 * std::exp2(-std::abs(i) / 10.0);  // down to 2^-34
            const double value = q(tail, i > 0);
            EXPECT_GT(value, 0.0) << c.name;
            EXPECT_GE(value, last * (1.0 - 1e-9)) << c.name << " at " << tail;  // 1e-9: bisection of mixtures
            last = value;
        }
        EXPECT_NEAR(q(0.3, true), q(0.7, false), 1e-9) << c.name;
    }
}

TEST(LawQuantile, HasMeanOneAndTheSpreadThatWasAsked)
{
    for (const Case& c : cases()) {
        const Spread found = integrated(LawQuantile(c.law));
        EXPECT_NEAR(found.mean, 1.0, 1e-4) << c.name;  // a jump of the quantile lies within one of 10,000 cells
        if (c.cv > 0.0) {
            EXPECT_NEAR(found.deviation, c.cv, 2e-3 * c.cv) << c.name;
        }
    }
}

TEST(LawQuantile, OfFamiliesMatchesBoost)
{
    const LawQuantile normal({Normal{0.1}, {}, 20.0, ""});
    const LawQuantile lognormal({LogNormal{0.3}, {}, 20.0, ""});
    const LawQuantile gamma({Gamma{0.5}, {}, 20.0, ""});
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

/// With cv = 1 the gamma law is exponential: Q = -log(1 - p), but for factors below the smallest, 1e-3.
TEST(LawQuantile, GammaOfCvOneIsExponential)
{
    const LawQuantile q({Gamma{1.0}, {}, 1000.0, ""});
    for (const double p : {1e-9, 1e-4, 0.01, 0.3}) {
        EXPECT_NEAR(q(p, true), -std::log(p), 2e-5);
    }
}

TEST(LawQuantile, OfAPoolGoesThroughItsSortedRatios)
{
    const std::vector<double> sorted{1.0, 2.0, 4.0, 9.0};  // mean 4
    const LawQuantile q({Empirical{{9.0, 2.0, 1.0, 4.0}}, {}, 20.0, ""});
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const double p = (static_cast<double>(i) + 0.5) / 4.0;
        EXPECT_NEAR(q(p, false), sorted[i] / 4.0, 1e-4);
        EXPECT_NEAR(q(1.0 - p, true), sorted[i] / 4.0, 1e-4);
    }
    EXPECT_NEAR(q(0.5, false), 3.0 / 4.0, 1e-4);
    EXPECT_NEAR(q(1e-9, true), 9.0 / 4.0, 1e-4);
}

/// The survival function of the mixture (1 - q) X + q (1 + excess) X, at its quantile, is the probability again.
TEST(LawQuantile, OfAMixtureInvertsItsSurvival)
{
    const SlowMode slow{0.05, 0.5};
    const LawQuantile q({LogNormal{0.1}, slow, 20.0, ""});
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

TEST(LawQuantile, OfTwoPointsHasTheirProbabilities)
{
    const LawQuantile q({Constant{}, {0.2, 1.0}, 20.0, ""});
    EXPECT_NEAR(q(0.199, true), 2.0 / 1.2, 1e-9);
    EXPECT_NEAR(q(0.201, true), 1.0 / 1.2, 1e-9);
    EXPECT_NEAR(q(0.001, false), 1.0 / 1.2, 1e-9);
}

TEST(LawQuantile, WithoutSpreadIsAConstant)
{
    const std::vector<Family> families{Constant{}, Normal{0.0}, LogNormal{0.0}, Gamma{0.0}, Empirical{{7.0}}};
    for (const Family& family : families) {
        const LawQuantile q({family, {}, 20.0, ""});
        EXPECT_TRUE(q.constant());
        for (const double p : {1e-9, 0.1, 0.5, 0.999}) {
            EXPECT_EQ(q(p, false), 1.0);
            EXPECT_EQ(q(p, true), 1.0);
        }
        EXPECT_FALSE(LawQuantile({family, {0.1, 0.5}, 20.0, ""}).constant());
    }
}

TEST(LawQuantile, RefusesWhatIsNoProbability)
{
    for (const Case& c : cases()) {
        const LawQuantile q(c.law);
        for (const double p : {0.0, 1.0, -0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
            EXPECT_THROW(q(p, false), std::domain_error) << c.name;
            EXPECT_THROW(q(p, true), std::domain_error) << c.name;
        }
    }
}

}  // namespace
}  // namespace prismopt
