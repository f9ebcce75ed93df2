#include "model/run/drift.hpp"

#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/normal.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace prismopt {
namespace {

/// The mean of a simulated process: x' = -x / time + noise, by exact steps.
TEST(Drift, AveragesOutAsTheProcessDoes)
{
    for (const double length : {0.1, 1.0, 10.0}) {  // correlation times
        constexpr int steps = 400;
        constexpr int runs = 4000;
        std::mt19937_64 random(1);
        std::normal_distribution<double> normal;
        const double keep = std::exp(-length / steps);
        double squares = 0.0;
        for (int run = 0; run < runs; ++run) {
            double x = normal(random);
            double mean = 0.0;
            for (int step = 0; step < steps; ++step) {
                const double next = keep * x + std::sqrt(1.0 - keep * keep) * normal(random);
                mean += 0.5 * (x + next) / steps;
                x = next;
            }
            squares += mean * mean / runs;
        }
        // A variance of 4000 draws is known to 2.2 %, its root to 1.1 %.
        EXPECT_NEAR(mean_drift_cv({0.02, Seconds{86400.0}}, length * 86400.0), 0.02 * std::sqrt(squares),
                    0.035 * 0.02 * std::sqrt(squares));
    }
}

TEST(Drift, IsWholeInShortRunsAndNothingWithoutACv)
{
    EXPECT_EQ(mean_drift_cv({0.02, Seconds{86400.0}}, 1.0), 0.02);
    EXPECT_NEAR(mean_drift_cv({0.02, Seconds{86400.0}}, 10.0), 0.02, 1e-6);
    EXPECT_EQ(mean_drift_cv({}, 1e6), 0.0);
}

TEST(Drift, FactorsHaveTheirMeanAndSpread)
{
    const NormalScores scores([](double p, bool upper) {
        const boost::math::normal z;
        return upper ? boost::math::quantile(boost::math::complement(z, p)) : boost::math::quantile(z, p);
    });
    constexpr int runs = 10'000;
    double sum = 0.0;
    double squares = 0.0;
    for (std::uint32_t fleet = 0; fleet < runs; ++fleet) {
        const double d = drift_factor(0.05, scores, 1, Purpose::search, fleet) - 1.0;
        sum += d / runs;
        squares += d * d / runs;
    }
    EXPECT_NEAR(sum, 0.0, 4.0 * 0.05 / std::sqrt(runs));
    EXPECT_NEAR(std::sqrt(squares), 0.05, 4.0 * 0.05 / std::sqrt(2.0 * runs));
}

}  // namespace
}  // namespace prismopt
