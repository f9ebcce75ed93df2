#include "model/distribution/group_distribution.hpp"

#include "model/distribution/distribution.hpp"
#include "tests/support/distribution_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace prismopt {
namespace {

Distribution gpus() { return {Normal{0.02}, {0.01, 0.10}, 20.0, ""}; }

/// Values that may be drawn many times: the distribution at 2^16 equally likely places.
std::vector<double> drawable(const Quantile& distribution)
{
    std::vector<double> values;
    constexpr int count = 1 << 16;
    for (int i = 0; i < count; ++i) {
        const double p = (i + 0.5) / count;
        values.push_back(p < 0.5 ? distribution(p, false) : distribution(1.0 - p, true));
    }
    return values;
}

/// The group's time a segment given its members' factors, E[max_i S_i R_i], by integrating 1 - product of
/// F(t / S_i) for lognormal R of mean one.
double mean_of_largest(const std::vector<double>& factors, double cv)
{
    const double deviation = std::sqrt(std::log1p(cv * cv));
    const double low = *std::min_element(factors.begin(), factors.end()) * std::exp(-9.0 * deviation);
    const double high = *std::max_element(factors.begin(), factors.end()) * std::exp(9.0 * deviation);
    constexpr int steps = 120;
    double sum = low;
    for (int i = 0; i < steps; ++i) {
        const double t = low + (high - low) * (i + 0.5) / steps;
        double all = 1.0;
        for (const double s : factors) {
            all *= 0.5 * std::erfc(-(std::log(t / s) / deviation + 0.5 * deviation) / std::sqrt(2.0));
        }
        sum += (1.0 - all) * (high - low) / steps;
    }
    return sum;
}

double mean_of(const std::vector<double>& values)
{
    double sum = 0.0;
    for (const double v : values) {
        sum += v;
    }
    return sum / static_cast<double>(values.size());
}

/// Against groups whose members are drawn one by one. The mean is exact in theory, so its tolerance is four
/// standard errors and the distribution's interpolation; the median and p99 omit the spread of groups
/// with equal slowest members: 0.1 %.
TEST(GroupDistribution, MatchesGroupsDrawnMemberByMember)
{
    const Quantile member = quantile_of(gpus());
    const std::vector<double> values = drawable(member);
    std::mt19937_64 random(5);
    for (const int n : {2, 8}) {
        for (const double cv : {0.005, 0.02, 0.08}) {
            constexpr int groups = 4000;
            const double equal = mean_of_largest(std::vector<double>(static_cast<std::size_t>(n), 1.0), cv);
            std::vector<double> drawn;
            for (int g = 0; g < groups; ++g) {
                std::vector<double> factors;
                factors.reserve(static_cast<std::size_t>(n));
                for (int i = 0; i < n; ++i) {
                    factors.push_back(values[random() >> 48]);
                }
                drawn.push_back(mean_of_largest(factors, cv) / equal);
            }
            std::sort(drawn.begin(), drawn.end());
            const double mean = mean_of(drawn);
            double squares = 0.0;
            for (const double d : drawn) {
                squares += (d - mean) * (d - mean);
            }
            const double error = std::sqrt(squares / groups / groups);
            const Quantile distribution = GroupDistribution(member, cv).factor(n);
            EXPECT_NEAR(moments(distribution).mean, mean, 4.0 * error + 1e-4) << n << " members, cv " << cv;
            // Four binomial deviations of the rank either side: 127 of 4,000 at the median, 26 at p99.
            EXPECT_GT(distribution(0.5, false), drawn[groups / 2 - 127] - 1e-3) << n << " members, cv " << cv;
            EXPECT_LT(distribution(0.5, false), drawn[groups / 2 + 127] + 1e-3) << n << " members, cv " << cv;
            EXPECT_GT(distribution(0.01, true), drawn[groups * 99 / 100 - 26] - 1e-3)
                << n << " members, cv " << cv;
            EXPECT_LT(distribution(0.01, true), drawn[groups * 99 / 100 + 26] + 1e-3)
                << n << " members, cv " << cv;
        }
    }
}

constexpr std::array tail_probabilities{1e-9, 1e-6, 1e-3, 0.02, 0.2, 0.5};

/// Alone, a GPU waits for nobody. Between nodes the distribution is linear in logit(p): within
/// 1e-4, a two-hundredth of the cv.
TEST(GroupDistribution, OfOneMemberIsTheMembersDistribution)
{
    const Quantile member = quantile_of({Normal{0.02}, {}, 20.0, ""});
    for (const double cv : {0.0, 0.1}) {
        const Quantile distribution = GroupDistribution(member, cv).factor(1);
        for (const double p : tail_probabilities) {
            EXPECT_NEAR(distribution(p, false), member(p, false), 1e-4) << p;
            EXPECT_NEAR(distribution(p, true), member(p, true), 1e-4) << p;
        }
    }
}

TEST(GroupDistribution, WithoutResidualsIsTheLargestMember)
{
    const Quantile member = quantile_of({Normal{0.02}, {}, 20.0, ""});
    for (const int n : {2, 8, 64}) {
        const Quantile distribution = GroupDistribution(member, 0.0).factor(n);
        const Quantile largest = largest_of(member, n);
        for (const double p : tail_probabilities) {
            EXPECT_NEAR(distribution(p, false), largest(p, false), 1e-4) << n << " " << p;
            EXPECT_NEAR(distribution(p, true), largest(p, true), 1e-4) << n << " " << p;
        }
    }
}

/// Equal GPUs add nothing to the waiting that the distributions of ops hold.
TEST(GroupDistribution, OfEqualMembersIsOne)
{
    for (const double cv : {0.01, 0.1, 1.0}) {
        const Quantile distribution = GroupDistribution([](double, bool) { return 1.0; }, cv).factor(8);
        EXPECT_NEAR(distribution(0.5, false), 1.0, 1e-12);
        EXPECT_NEAR(distribution(1e-6, true), 1.0, 1e-12);
    }
}

/// The more members, the slower the slowest usually is; one shows less where all
/// members wait for residuals anyway.
TEST(GroupDistribution, GrowsWithWidthAndHidesBehindResiduals)
{
    const Quantile member = quantile_of(gpus());
    double narrow = 0.0;
    for (const int n : {1, 2, 4, 8, 16}) {
        const double median = GroupDistribution(member, 0.02).factor(n)(0.5, false);
        EXPECT_GT(median, narrow) << n;
        narrow = median;
    }
    for (const double p : tail_probabilities) {
        double calm = 2.0;
        for (const double cv : {0.0, 0.01, 0.05, 0.2}) {
            const double value = GroupDistribution(member, cv).factor(8)(p, true);
            EXPECT_LT(value, calm) << cv << " " << p;
            EXPECT_GT(value, 1.0) << cv << " " << p;
            calm = value;
        }
    }
}

}  // namespace
}  // namespace prismopt
