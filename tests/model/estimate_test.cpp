#include "model/estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace prismopt {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<double> counted(std::size_t n)
{
    std::vector<double> draws(n);
    std::iota(draws.begin(), draws.end(), 1.0);
    std::shuffle(draws.begin(), draws.end(), std::mt19937_64(1));
    return draws;
}

/// Ranks of the tables of distribution-free intervals for the median: Conover, Practical Nonparametric Statistics, table A3.
struct Ranks {
    std::size_t n;
    double low;
    double high;
};

TEST(QuantileEstimate, MedianLimitsAreTheTabulatedRanks)
{
    for (const Ranks& row : {Ranks{6, 1, 6}, {8, 1, 8}, {10, 2, 9}, {15, 4, 12}, {20, 6, 15}, {50, 18, 33}, {100, 40, 61}}) {
        const Estimate e = quantile_estimate(counted(row.n), {}, 0.5, {});
        EXPECT_EQ(e.low, row.low) << row.n;
        EXPECT_EQ(e.high, row.high) << row.n;
    }
}

TEST(QuantileEstimate, IsTheSmallestDrawThatAShareDoesNotExceed)
{
    EXPECT_EQ(quantile_estimate(counted(100), {}, 0.99, {}).value, 99.0);
    EXPECT_EQ(quantile_estimate(counted(100), {}, 0.5, {}).value, 50.0);
    EXPECT_EQ(quantile_estimate(counted(101), {}, 0.5, {}).value, 51.0);
    EXPECT_EQ(quantile_estimate(counted(64), {}, 0.99, {}).value, 64.0);
}

/// P(all 64 draws lie below p99) = 0.53: no draw bounds it from above. 368 draws do at 95 %: 0.99^368 = 0.0248.
TEST(QuantileEstimate, LimitsThatTheDrawsCannotSupportAreInfinite)
{
    const Estimate few = quantile_estimate(counted(64), {}, 0.99, {});
    EXPECT_EQ(few.high, infinite);
    EXPECT_EQ(few.safe_high, infinite);
    EXPECT_TRUE(std::isfinite(few.low));
    EXPECT_EQ(quantile_estimate(counted(367), {}, 0.99, {}).high, infinite);
    EXPECT_EQ(quantile_estimate(counted(368), {}, 0.99, {}).high, 368.0);
    EXPECT_EQ(quantile_estimate(counted(368), {}, 0.99, {}).safe_high, infinite);

    const Estimate five = quantile_estimate(counted(5), {}, 0.5, {});  // 2^-5 > 0.025
    EXPECT_EQ(five.low, -infinite);
    EXPECT_EQ(five.high, infinite);
}

TEST(Estimate, LimitsNestAroundTheValue)
{
    std::mt19937_64 random(2);
    std::normal_distribution<double> normal;
    for (const std::size_t cluster : {1UL, 2UL, 4UL}) {
        for (const std::size_t clusters : {1UL, 2UL, 16UL, 64UL, 1000UL}) {
            std::vector<double> draws(cluster * clusters);
            std::generate(draws.begin(), draws.end(), [&] { return normal(random); });
            for (const double p : {0.0, 0.05, 0.5, 0.95, 0.99}) {
                const Estimate e = p == 0.0 ? mean_estimate(draws, {cluster}, {}) : quantile_estimate(draws, {cluster}, p, {});
                EXPECT_LE(e.safe_low, e.low);
                EXPECT_LE(e.low, e.value);
                EXPECT_LE(e.value, e.high);
                EXPECT_LE(e.high, e.safe_high);
            }
        }
    }
}

/// Draws c + w of clusters: between-cluster share `common` of a unit variance, so that every draw is standard normal.
struct Scheme {
    const char* name;
    std::size_t clusters;
    std::size_t cluster;
    double common;
};

template <class Function>
double coverage(const Scheme& scheme, double truth, int repeats, Function estimate)
{
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    int covered = 0;
    std::vector<double> draws(scheme.clusters * scheme.cluster);
    for (int r = 0; r < repeats; ++r) {
        for (std::size_t c = 0; c < scheme.clusters; ++c) {
            const double shared = std::sqrt(scheme.common) * normal(random);
            for (std::size_t k = 0; k < scheme.cluster; ++k) {
                draws[c * scheme.cluster + k] = shared + std::sqrt(1.0 - scheme.common) * normal(random);
            }
        }
        const Estimate e = estimate(draws, scheme.cluster);
        covered += e.low <= truth && truth <= e.high ? 1 : 0;
    }
    return static_cast<double>(covered) / repeats;
}

constexpr int repeats = 1200;
const double margin = 4.0 * std::sqrt(0.95 * 0.05 / repeats);  // four standard errors: 2.5 points

struct Level {
    double probability;
    double quantile;  // of the standard normal law
};
constexpr std::array<Level, 3> levels{{{0.50, 0.0}, {0.95, 1.6448536269514722}, {0.99, 2.3263478740408408}}};

TEST(QuantileEstimate, CoversAsPromisedForIndependentDraws)
{
    for (const Level& level : levels) {
        for (const std::size_t n : {64UL, 1000UL}) {
            const double found = coverage({"independent", n, 1, 0.0}, level.quantile, repeats, [&](auto& draws, auto cluster) {
                return quantile_estimate(draws, {cluster}, level.probability, {});
            });
            EXPECT_GE(found, 0.95 - margin) << level.probability << " of " << n;
            if (n == 1000) {  // not idle either; with few draws whole ranks leave no choice
                EXPECT_LE(found, 0.97 + margin) << level.probability << " of " << n;
            }
        }
    }
}

TEST(QuantileEstimate, CoversForClusteredDraws)
{
    for (const Scheme& scheme : {Scheme{"none", 256, 4, 0.0},
                                 {"weak", 256, 4, 0.1},
                                 {"strong", 256, 4, 0.9},
                                 {"all", 256, 4, 1.0},
                                 {"all of few", 64, 4, 1.0}}) {
        for (const Level& level : levels) {
            const double found = coverage(scheme, level.quantile, repeats, [&](auto& draws, auto cluster) {
                return quantile_estimate(draws, {cluster}, level.probability, {});
            });
            EXPECT_GE(found, 0.95 - margin) << scheme.name << ", p = " << level.probability;
        }
    }
}

TEST(MeanEstimate, CoversAsPromised)
{
    for (const Scheme& scheme :
         {Scheme{"independent", 16, 1, 0.0}, {"weak", 16, 4, 0.1}, {"strong", 16, 4, 0.9}, {"two", 2, 8, 0.5}}) {
        const double found =
            coverage(scheme, 0.0, repeats, [](auto& draws, auto cluster) { return mean_estimate(draws, {cluster}, {}); });
        EXPECT_NEAR(found, 0.95, margin) << scheme.name;  // Student's t is exact for normal cluster means
    }
}

/// 1, 2, 3, 4: mean 2.5, standard error sqrt(5/3 / 4) = 0.6455, t(3, 97.5 %) = 3.1824.
TEST(MeanEstimate, MatchesTheTextbook)
{
    const std::vector<double> draws{1.0, 2.0, 3.0, 4.0};
    const Estimate e = mean_estimate(draws, {}, {});
    EXPECT_DOUBLE_EQ(e.value, 2.5);
    EXPECT_NEAR(e.high, 2.5 + 3.1824 * 0.6455, 1e-4);
    EXPECT_NEAR(e.low, 2.5 - 3.1824 * 0.6455, 1e-4);
    EXPECT_EQ(mean_estimate(draws, {4}, {}).high, infinite);  // one cluster says nothing of its error
    EXPECT_EQ(mean_estimate(draws, {4}, {}).value, 2.5);
}

TEST(Estimate, ScalesWithItsUnit)
{
    const Estimate hours = 1.0 / 3600.0 * Estimate{3600.0, 1800.0, 7200.0, 0.0, infinite};
    EXPECT_DOUBLE_EQ(hours.value, 1.0);
    EXPECT_DOUBLE_EQ(hours.low, 0.5);
    EXPECT_DOUBLE_EQ(hours.high, 2.0);
    EXPECT_EQ(hours.safe_high, infinite);
    const Estimate exact = Estimate::exact(3.0);
    EXPECT_EQ(exact.safe_low, 3.0);
    EXPECT_EQ(exact.high, 3.0);
}

}  // namespace
}  // namespace prismopt
