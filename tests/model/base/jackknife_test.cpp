#include "model/base/jackknife.hpp"

#include <gtest/gtest.h>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace prismopt {
namespace {

constexpr std::size_t block = 64;
constexpr double unlimited = std::numeric_limits<double>::infinity();

std::vector<double> ascending(std::vector<double> draws)
{
    std::sort(draws.begin(), draws.end());
    return draws;
}

/// The weights are what a bootstrap without end gives: order statistic k of a resample is at most value i
/// where k of n or more draws are.
TEST(SmoothQuantiles, AreTheMeanOrderStatisticsOfResamples)
{
    const std::vector<double> sorted{1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0};
    const auto n = static_cast<double>(sorted.size());
    for (const int rank : {2, 5, 9}) {
        const auto at_most = [&](std::size_t i) {  // of the first i values
            const boost::math::binomial count(n, static_cast<double>(i) / n);
            return cdf(complement(count, rank - 1));
        };
        double expected = 0.0;
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            expected += (at_most(i + 1) - at_most(i)) * sorted[i];
        }
        const std::array probability{rank / (n + 1.0)};
        EXPECT_NEAR(SmoothQuantiles(sorted.size(), probability)(sorted).front(), expected, 1e-9 * expected)
            << rank;
    }
}

TEST(SmoothQuantiles, ShiftAndScaleWithTheDraws)
{
    constexpr std::array probabilities{0.01, 0.5, 0.99};
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    for (const std::size_t n : {8UL, 1000UL, 100000UL}) {
        std::vector<double> draws(n);
        std::generate(draws.begin(), draws.end(), [&] { return normal(random); });
        std::vector<double> other(n);
        std::transform(draws.begin(), draws.end(), other.begin(), [](double x) { return 3.0 + 2.0 * x; });
        const SmoothQuantiles smooth(n, probabilities);
        const std::vector<double> a = smooth(ascending(draws));
        const std::vector<double> b = smooth(ascending(other));
        for (std::size_t i = 0; i < probabilities.size(); ++i) {
            EXPECT_NEAR(b[i], 3.0 + 2.0 * a[i], 1e-12 * static_cast<double>(n));
        }
        EXPECT_LT(a[0], a[1]);
        EXPECT_LT(a[1], a[2]);
    }
}

TEST(Sections, AreSixteenOrEight)
{
    const auto cut = [](std::size_t draws) {
        const Sections s = sections_of(draws, {1, block});
        return std::pair(s.count, s.size);
    };
    EXPECT_EQ(cut(64 * block), std::pair(std::size_t{16}, 4 * block));
    EXPECT_EQ(cut(9 * block), std::pair(std::size_t{9}, block));
    EXPECT_EQ(cut(8 * block - 1).first, 0U);
    const std::vector<double> draws{0.0, 1.0, 2.0, 3.0, 4.0, 5.0};
    EXPECT_EQ(without_section(draws, {3, 2}, 1), (std::vector<double>{0.0, 1.0, 4.0, 5.0}));
    EXPECT_EQ(jackknife_estimate(1.0, {}, {}).high, unlimited);
}

/// Pseudo-values of a mean are the sections' means, and the limits those of a mean.
TEST(Jackknife, OfAMeanIsItsStandardError)
{
    std::vector<double> draws;
    for (int i = 0; i < 16; ++i) {
        draws.push_back(std::sin(i));
    }
    const Sections sections = sections_of(draws.size(), {});
    const double mean = mean_estimate(draws, {}, {}).value;
    std::vector<double> pseudo_values;
    for (std::size_t s = 0; s < sections.count; ++s) {
        const std::vector<double> others = without_section(draws, sections, s);
        pseudo_values.push_back(
            pseudo_value(mean, mean_estimate(others, {}, {}).value, draws.size(), sections));
        EXPECT_NEAR(pseudo_values.back(), draws[s], 1e-12);
    }
    const Estimate e = jackknife_estimate(mean, pseudo_values, {});
    EXPECT_NEAR(e.low, mean_estimate(draws, {}, {}).low, 1e-12);
    EXPECT_NEAR(e.simultaneous_high, mean_estimate(draws, {}, {}).simultaneous_high, 1e-12);
}

/// A change that is nearly equal for all draws is known better by smooth quantiles than by order statistics,
/// whose change is that of one or two draws.
TEST(SmoothQuantiles, KnowSmallChangesBetter)
{
    constexpr std::size_t draws = 4096;
    constexpr int trials = 200;  // a ratio of variances of so many is known to a tenth
    constexpr std::array probabilities{0.5, 0.95, 0.99};
    const SmoothQuantiles smooth(draws, probabilities);
    std::mt19937_64 random(9);
    std::normal_distribution<double> normal;
    std::array<std::array<std::vector<double>, 2>, probabilities.size()> changes;
    std::vector<double> a(draws);
    std::vector<double> b(draws);
    for (int t = 0; t < trials; ++t) {
        for (std::size_t i = 0; i < draws; ++i) {
            a[i] = std::exp(0.05 * normal(random));
            b[i] = a[i] * (1.0 - 0.001 * (1.0 + 0.3 * normal(random)));
        }
        const std::vector<double> smooth_a = smooth(ascending(a));
        const std::vector<double> smooth_b = smooth(ascending(b));
        const std::vector<double> plain_a = quantiles(a, {}, probabilities);
        const std::vector<double> plain_b = quantiles(b, {}, probabilities);
        for (std::size_t i = 0; i < probabilities.size(); ++i) {
            changes[i][0].push_back(smooth_b[i] - smooth_a[i]);
            changes[i][1].push_back(plain_b[i] - plain_a[i]);
        }
    }
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
        const auto error = [](const std::vector<double>& of) { return mean_error(of, {}); };
        const double gain = error(changes[i][1]) / error(changes[i][0]);
        EXPECT_GT(gain, 2.0) << probabilities[i];
        RecordProperty("gain at " + std::to_string(probabilities[i]), std::to_string(gain));
    }
}

/// Two statistics of the same draws, and what their difference or ratio is.
struct Case {
    const char* name;
    double shared;  // standard deviations
    double changed;
    double own;
    bool ratio;
};

class JackknifeLimits : public testing::TestWithParam<Case> {};

/// a = exp(shared s + own e), b = exp(changed s): quantiles are known, whether the change is large or
/// almost the same for all draws.
TEST_P(JackknifeLimits, CoverAsOftenAsTheySay)
{
    const Case& c = GetParam();
    constexpr int trials = 80;
    const double slack = 4.0 * std::sqrt(0.95 * 0.05 / trials);
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (const std::size_t blocks : {8UL, 64UL}) {
        const std::size_t draws = blocks * block;
        for (const double probability : {0.5, 0.95, 0.99}) {
            const std::array probabilities{probability};
            const double z = quantile(boost::math::normal(), probability);
            const auto combine = [&](double a, double b) { return c.ratio ? a / b : a - b; };
            const double truth = combine(std::exp(std::hypot(c.shared, c.own) * z), std::exp(c.changed * z));
            const Sections sections = sections_of(draws, {1, block});
            const SmoothQuantiles all(draws, probabilities);
            const SmoothQuantiles others(draws - sections.size, probabilities);
            int covered = 0;
            std::vector<double> a(draws);
            std::vector<double> b(draws);
            for (int t = 0; t < trials; ++t) {
                for (std::size_t i = 0; i < draws; ++i) {
                    const double s = normal(random);
                    a[i] = std::exp(c.shared * s + c.own * normal(random));
                    b[i] = std::exp(c.changed * s);
                }
                const double value = combine(all(ascending(a)).front(), all(ascending(b)).front());
                std::vector<double> pseudo_values;
                for (std::size_t s = 0; s < sections.count; ++s) {
                    const double rest = combine(others(ascending(without_section(a, sections, s))).front(),
                                                others(ascending(without_section(b, sections, s))).front());
                    pseudo_values.push_back(pseudo_value(value, rest, draws, sections));
                }
                const Estimate e = jackknife_estimate(value, pseudo_values, {});
                covered += e.low <= truth && truth <= e.high ? 1 : 0;
            }
            // 512 draws have five beyond the p99.
            const double expected = blocks > 8 || probability < 0.99 ? 0.95 : 0.92;
            EXPECT_GE(covered, trials * (expected - slack))
                << c.name << " " << probability << ", draws " << draws;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Changes, JackknifeLimits,
                         testing::Values(Case{"large", 0.05, 0.05, 0.05, false},
                                         Case{"small", 0.05, 0.049, 0.002, false},
                                         Case{"tiny", 0.05, 0.05, 1e-4, false},
                                         Case{"ratio", 0.05, 0.03, 0.02, true}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace prismopt
