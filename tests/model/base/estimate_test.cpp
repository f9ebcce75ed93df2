#include "model/base/estimate.hpp"

#include "model/base/random.hpp"
#include "model/distribution/noise_tables.hpp"
#include "tests/support/distribution_cases.hpp"
#include "tests/support/draw_statistics.hpp"

#include <gtest/gtest.h>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
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

/// Ranks of the tables of distribution-free intervals for the median: Conover, Practical
/// Nonparametric Statistics, table A3.
struct Ranks {
    std::size_t n;
    double low;
    double high;
};

TEST(QuantileEstimate, MedianLimitsAreTheTabulatedRanks)
{
    for (const Ranks& row :
         {Ranks{6, 1, 6}, {8, 1, 8}, {10, 2, 9}, {15, 4, 12}, {20, 6, 15}, {50, 18, 33}, {100, 40, 61}}) {
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

/// P(all 64 draws lie below p99) = 0.53: no draw bounds it from above. 368 draws
/// do at 95 %: 0.99^368 = 0.0248.
TEST(QuantileEstimate, LimitsThatTheDrawsCannotSupportAreInfinite)
{
    const Estimate few = quantile_estimate(counted(64), {}, 0.99, {});
    EXPECT_EQ(few.high, infinite);
    EXPECT_EQ(few.simultaneous_high, infinite);
    EXPECT_TRUE(std::isfinite(few.low));
    EXPECT_EQ(quantile_estimate(counted(367), {}, 0.99, {}).high, infinite);
    EXPECT_EQ(quantile_estimate(counted(368), {}, 0.99, {}).high, 368.0);
    EXPECT_EQ(quantile_estimate(counted(368), {}, 0.99, {}).simultaneous_high, infinite);

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
                const Estimate e = p == 0.0 ? mean_estimate(draws, {cluster}, {})
                                            : quantile_estimate(draws, {cluster}, p, {});
                EXPECT_LE(e.simultaneous_low, e.low);
                EXPECT_LE(e.low, e.value);
                EXPECT_LE(e.value, e.high);
                EXPECT_LE(e.high, e.simultaneous_high);
            }
        }
    }
}

/// Draws c + w of clusters: between-cluster share `common` of a unit variance, so that
/// every draw is standard normal.
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
    double quantile;  // of the standard normal distribution
};
constexpr std::array<Level, 3> levels{{{0.50, 0.0}, {0.95, 1.6448536269514722}, {0.99, 2.3263478740408408}}};

TEST(QuantileEstimate, CoversAsPromisedForIndependentDraws)
{
    for (const Level& level : levels) {
        for (const std::size_t n : {64UL, 1000UL}) {
            const double found =
                coverage({"independent", n, 1, 0.0}, level.quantile, repeats, [&](auto& draws, auto cluster) {
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
    for (const Scheme& scheme : {Scheme{"independent", 16, 1, 0.0},
                                 {"weak", 16, 4, 0.1},
                                 {"strong", 16, 4, 0.9},
                                 {"two", 2, 8, 0.5}}) {
        const double found = coverage(scheme, 0.0, repeats, [](auto& draws, auto cluster) {
            return mean_estimate(draws, {cluster}, {});
        });
        EXPECT_NEAR(found, 0.95, margin) << scheme.name;  // Student's t is exact for normal cluster means
    }
}

/// Exponential draws, whose skewness is 2: the upper limit lies below the mean in as many samples as
/// promised, and without the allowance for skewness (as reported limits are) in more than twice as many. 4
/// standard errors of the counts.
TEST(MeanEstimate, LimitsAllowForSkewness)
{
    constexpr double level = 0.998;
    constexpr int samples = 100'000;
    constexpr double expected = samples * 0.5 * (1.0 - level);
    std::mt19937_64 random(7);
    for (const std::size_t count : {128, 256}) {
        std::vector<double> draws(count);
        int missed = 0;
        int missed_without = 0;
        for (int i = 0; i < samples; ++i) {
            for (double& draw : draws) {
                draw = -std::log1p(-0x1p-53 * static_cast<double>(random() >> 11));
            }
            const Estimate estimate = mean_estimate(draws, {}, {level, level, 2.0});
            missed += estimate.simultaneous_high < 1.0 ? 1 : 0;
            missed_without += estimate.high < 1.0 ? 1 : 0;
        }
        EXPECT_LE(missed, 1.1 * expected + 4.0 * std::sqrt(expected)) << count << " values";
        EXPECT_GT(missed_without, 2.0 * expected) << count << " values";
    }
}

/// Draws that are more skewed than is known in advance.
TEST(MeanEstimate, LimitsAllowForTheSkewnessOfTheDraws)
{
    std::vector<double> draws(256, 1.0);
    for (std::size_t i = 0; i < 8; ++i) {
        draws[32 * i] = 2.0;  // skewness (1 - 2 p) / sqrt(p (1 - p)) = 5.4 for p = 1/32
    }
    EXPECT_EQ(mean_estimate(draws, {}, {0.95, 0.9999}).simultaneous_high, infinite);
    std::vector<double> more;
    for (int i = 0; i < 16; ++i) {
        more.insert(more.end(), draws.begin(), draws.end());
    }
    const Estimate estimate = mean_estimate(more, {}, {0.95, 0.9999});
    EXPECT_TRUE(std::isfinite(estimate.simultaneous_high));
    EXPECT_EQ(mean_estimate(std::vector<double>(8, 1.0), {}, {0.95, 1.0 - 1e-9, 5.0}).simultaneous_high, 1.0)
        << "nothing varies";
}

TEST(MeanEstimate, TooFewSkewedDrawsHaveNoLimits)
{
    constexpr double tail = 1e-3;
    EXPECT_EQ(score_for_skewness(tail, 2.0, 64.0), infinite);
    // From the definition: the normal probability of 4.2381 times exp(2 * 4.2381^3
    // / (3 * sqrt(128))) is 1.000e-3.
    EXPECT_NEAR(score_for_skewness(tail, 2.0, 128.0), 4.2381, 1e-4);
    EXPECT_NEAR(score_for_skewness(tail, 2.0, 1e12), score_for_skewness(tail, 0.0, 1.0), 1e-4);
    EXPECT_EQ(score_for_skewness(tail, -1.0, 64.0), score_for_skewness(tail, 0.0, 64.0));

    std::vector<double> draws(64, 1.0);
    std::fill_n(draws.begin(), 32, 2.0);
    const Estimate estimate = mean_estimate(draws, {}, {0.95, 1.0 - 2.0 * tail, 2.0});
    EXPECT_EQ(estimate.simultaneous_high, infinite);
    EXPECT_TRUE(std::isfinite(estimate.high));
}

/// 1, 2, 3, 4: mean 2.5, standard error sqrt(5/3 / 4) = 0.6455, t(3, 97.5 %) = 3.1824.
TEST(MeanEstimate, MatchesTheTextbook)
{
    const std::vector<double> draws{1.0, 2.0, 3.0, 4.0};
    const Estimate e = mean_estimate(draws, {}, {});
    EXPECT_DOUBLE_EQ(e.value, 2.5);
    EXPECT_NEAR(e.high, 2.5 + 3.1824 * 0.6455, 1e-4);
    EXPECT_NEAR(e.low, 2.5 - 3.1824 * 0.6455, 1e-4);
    EXPECT_EQ(mean_estimate(draws, {4}, {}).high, infinite);  // one cluster does not show its error
    EXPECT_EQ(mean_estimate(draws, {4}, {}).value, 2.5);
}

TEST(Estimate, ScalesWithItsUnit)
{
    const Estimate hours = 1.0 / 3600.0 * Estimate{3600.0, 1800.0, 7200.0, 0.0, infinite};
    EXPECT_DOUBLE_EQ(hours.value, 1.0);
    EXPECT_DOUBLE_EQ(hours.low, 0.5);
    EXPECT_DOUBLE_EQ(hours.high, 2.0);
    EXPECT_EQ(hours.simultaneous_high, infinite);
    const Estimate exact = Estimate::exact(3.0);
    EXPECT_EQ(exact.simultaneous_low, 3.0);
    EXPECT_EQ(exact.high, 3.0);
}

double normal_of(std::uint32_t bits)
{
    return boost::math::quantile(boost::math::normal(), (static_cast<double>(bits) + 0.5) * 0x1p-32);
}

/// Standard normal draws in blocks of 64 that share out the strata of one part of them.
std::vector<double> stratified_draws(std::size_t blocks, double stratified_share, std::mt19937_64& random)
{
    std::normal_distribution<double> normal;
    std::vector<double> draws;
    for (std::size_t b = 0; b < blocks; ++b) {
        const auto key = static_cast<std::uint32_t>(random());
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            const double shared_out = normal_of(stratified(static_cast<std::uint32_t>(random()), key, lane));
            draws.push_back(std::sqrt(stratified_share) * shared_out +
                            std::sqrt(1.0 - stratified_share) * normal(random));
        }
    }
    return draws;
}

/// How often intervals cover, and how wide they are on average.
struct Intervals {
    int repeats = 0;
    double covered = 0.0;
    double width = 0.0;

    void add(const Estimate& e, double truth)
    {
        ++repeats;
        covered += e.low <= truth && truth <= e.high ? 1.0 : 0.0;
        width += e.high - e.low;
    }
    double coverage() const { return covered / repeats; }
};

TEST(Estimate, BlocksOfStratifiedDrawsCoverWithNarrowerIntervals)
{
    std::mt19937_64 random(4);
    constexpr int trials = 300;
    const double slack = 4.0 * std::sqrt(0.95 * 0.05 / trials);
    for (const double share : {0.0, 1.0}) {
        for (const std::size_t blocks : {16UL, 64UL}) {
            std::array<Intervals, levels.size() + 1> by_block;  // the mean is the last
            std::array<Intervals, levels.size() + 1> by_draw;
            for (int t = 0; t < trials; ++t) {
                const auto draws = stratified_draws(blocks, share, random);
                for (std::size_t k = 0; k < levels.size(); ++k) {
                    const auto estimate = [&](const Clusters& clusters) {
                        return quantile_estimate(draws, clusters, levels[k].probability, {});
                    };
                    by_block[k].add(estimate({1, lanes}), levels[k].quantile);
                    by_draw[k].add(estimate({}), levels[k].quantile);
                }
                by_block.back().add(mean_estimate(draws, {1, lanes}, {}), 0.0);
                by_draw.back().add(mean_estimate(draws, {}, {}), 0.0);
            }
            for (std::size_t k = 0; k < by_block.size(); ++k) {
                const std::string name =
                    (k < levels.size() ? "p = " + std::to_string(levels[k].probability) : "mean") + ", " +
                    std::to_string(blocks) + " blocks, share " + std::to_string(share);
                EXPECT_GE(by_block[k].coverage(), 0.95 - slack) << name;
                const bool blocks_can_tell =
                    blocks > 16 || k == levels.size() || levels[k].probability < 0.99;
                if (share == 1.0 && blocks_can_tell) {  // ten draws beyond the p99 do not fill 16 blocks
                    EXPECT_LT(by_block[k].width, 0.9 * by_draw[k].width) << name;
                }
                RecordProperty(name, "coverage " + std::to_string(by_block[k].coverage()) + ", width ratio " +
                                         std::to_string(by_block[k].width / by_draw[k].width));
            }
        }
    }
}

/// C and T lognormal: so is C T, with the sum of their variances.
TEST(ScaledQuantileEstimate, MatchesTheProductOfLognormals)
{
    constexpr int trials = 300;
    constexpr std::size_t n = 1024;
    const double slack = 4.0 * std::sqrt(0.95 * 0.05 / trials);
    constexpr double sigma_t = 0.008;
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (const double sigma_c : {0.03, 0.001}) {
        std::vector<DistributionNode> factor;
        for (const TailProbability& node : NoiseTables::step_node_probabilities()) {
            const double z = normal_quantile(node.p, node.upper);
            factor.push_back({node.below(), std::exp(sigma_c * z - 0.5 * sigma_c * sigma_c)});
        }
        for (const Level& level : levels) {
            const double sigma = std::hypot(sigma_c, sigma_t);
            const double truth = std::exp(sigma * level.quantile - 0.5 * sigma_c * sigma_c);
            Intervals integrated;
            std::vector<double> estimates;
            std::vector<double> drawn;
            for (int t = 0; t < trials; ++t) {
                std::vector<double> draws(n);
                std::generate(draws.begin(), draws.end(), [&] { return std::exp(sigma_t * normal(random)); });
                const Estimate e = scaled_quantile_estimate(draws, {}, factor, level.probability, {});
                integrated.add(e, truth);
                estimates.push_back(e.value);
                for (double& d : draws) {
                    d *= std::exp(sigma_c * normal(random) - 0.5 * sigma_c * sigma_c);
                }
                drawn.push_back(sorted_quantile(sorted(std::move(draws)), level.probability));
            }
            const SampleMoments value(estimates);
            const double gain = SampleMoments(drawn).variance / value.variance;
            const std::string name =
                "C " + std::to_string(100.0 * sigma_c) + " %, p = " + std::to_string(level.probability);
            // Order statistics of n draws lie up to 1/n off.
            EXPECT_NEAR(value.mean, truth, 4.0 * value.error + 1e-4 * truth) << name;
            EXPECT_GE(integrated.coverage(), 0.95 - slack) << name;
            EXPECT_GT(gain, sigma_c > sigma_t ? 20.0 : 0.7) << name;
            RecordProperty(name, "bias in % " + std::to_string(100.0 * (value.mean / truth - 1.0)) +
                                     ", coverage " + std::to_string(integrated.coverage()) +
                                     ", variance ratio " + std::to_string(gain));
        }
    }
}

/// Where nothing else varies the quantile is the factor's own, to the ends of its tails: a slow
/// mode of one step in 10,000 too.
TEST(ScaledQuantileEstimate, IsTheFactorsOwnWhereNothingElseVaries)
{
    for (const Distribution& distribution : {Distribution{LogNormal{1.0}, {}, 1000.0, "test"},
                                             Distribution{Normal{0.01}, {1e-4, 3.0}, 100.0, "test"}}) {
        const DistributionQuantile truth(distribution);
        std::vector<DistributionNode> factor;
        for (const TailProbability& node : NoiseTables::step_node_probabilities()) {
            factor.push_back({node.below(), truth(node.p, node.upper)});
        }
        const std::vector<double> draws(64, 2.0);
        for (const double beyond : {0.5, 0.05, 0.01, 0.001, 2e-5}) {
            const double value = scaled_quantile_estimate(draws, {}, factor, 1.0 - beyond, {}).value;
            EXPECT_NEAR(value, 2.0 * truth(beyond, true), 1e-3 * value) << beyond;
        }
    }
}

/// A factor that hardly varies adds no knowledge: 64 draws still bound no p99 from above.
TEST(ScaledQuantileEstimate, LimitsThatTheDrawsCannotSupportAreInfinite)
{
    const std::vector<DistributionNode> factor{{0.0, 0.999999}, {0.5, 1.0}, {1.0, 1.000001}};
    EXPECT_EQ(scaled_quantile_estimate(counted(64), {}, factor, 0.99, {}).high, infinite);
    // 15 draws do not bound anything.
    EXPECT_EQ(scaled_quantile_estimate(counted(15), {}, factor, 0.5, {}).high, infinite);
    EXPECT_EQ(scaled_quantile_estimate(counted(15), {}, factor, 0.5, {}).low, -infinite);
}

TEST(Quantiles, AreThoseOfTheEstimates)
{
    const auto draws = counted(1000);
    const std::vector<DistributionNode> factor{{0.0, 0.9}, {0.5, 1.0}, {1.0, 1.1}};
    const std::array probabilities{0.5, 0.99};
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        EXPECT_EQ(quantiles(draws, {}, probabilities)[i],
                  quantile_estimate(draws, {}, probabilities[i], {}).value);
        EXPECT_EQ(quantiles(draws, factor, probabilities)[i],
                  scaled_quantile_estimate(draws, {}, factor, probabilities[i], {}).value);
    }
}

}  // namespace
}  // namespace prismopt
