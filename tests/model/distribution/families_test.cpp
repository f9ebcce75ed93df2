/// One contract over all families: tests/support/distribution_cases.hpp lists them.

#include "tests/support/distribution_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace prismopt {
namespace {

class Families : public testing::TestWithParam<DistributionCase> {
protected:
    static const DistributionCase& row() { return GetParam(); }
    const DistributionQuantile distribution{GetParam().distribution};
};

std::string test_name(const testing::TestParamInfo<DistributionCase>& info)
{
    std::string name = info.param.name;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
        '_');
    return name;
}
INSTANTIATE_TEST_SUITE_P(All, Families, testing::ValuesIn(distribution_cases()), test_name);

std::string shown(double error)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", error);
    return text;
}

constexpr double deepest = 0x1p-40;  // a table's last probability, 2^-33, shared by 128 members

TEST_P(Families, RiseFromTailToTailWithinTheirBounds)
{
    double last = 0.0;
    for (int i = -390; i <= 390; ++i) {
        const double tail = 0.5 * std::exp2(-std::abs(i) / 10.0);
        const double value = distribution(tail, i > 0);
        EXPECT_GT(value, 0.0);
        EXPECT_LE(value, distribution.longest());
        EXPECT_GE(value, last * (1.0 - 1e-13)) << tail;  // 1e-13: inverses by iteration
        last = value;
    }
    EXPECT_NEAR(distribution(0.3, true), distribution(0.7, false), 1e-12);
}

/// P(X > x) falls through p at Q(p), and P(X <= x) rises through it: of smooth distributions
/// and of those with jumps.
TEST_P(Families, GoToQuantilesAndBack)
{
    constexpr double x_slack = 1e-11;
    for (const bool upper : {false, true}) {
        for (int i = 0; i <= 43; ++i) {
            const double p = deepest * std::pow(1.9, i);  // up to 0.88
            for (const double at : {p, 1.0 - p}) {
                const double x = distribution(at, upper);
                const double slack = 1e-9 * at + 3e-16;  // probabilities beyond the cap have been subtracted
                const double before = distribution.probability(x * (1.0 - x_slack), upper);
                const double after = distribution.probability(x * (1.0 + x_slack), upper);
                EXPECT_GE(upper ? before : after, at - slack)
                    << at << (upper ? " above" : " below") << " at x = " << x;
                EXPECT_LE(upper ? after : before, at + slack)
                    << at << (upper ? " above" : " below") << " at x = " << x;
            }
        }
    }
}

TEST_P(Families, HaveComplementaryProbabilities)
{
    for (int i = 1; i < 100; i += 3) {
        const double x = distribution(i / 100.0, false);
        EXPECT_NEAR(distribution.probability(x, true) + distribution.probability(x, false), 1.0, 1e-14);
    }
    EXPECT_NEAR(distribution.probability(distribution.longest(), true), 0.0, 1e-15);
    EXPECT_NEAR(distribution.probability(distribution.longest(), false), 1.0, 1e-15);
    EXPECT_EQ(distribution.probability(0.0, true), 1.0);
    EXPECT_EQ(distribution.probability(0.0, false), 0.0);
}

/// Mean: integral of P(X > x); second moment: of 2 x P(X > x). Simpson's rule between
/// quantiles an eighth of an octave apart.
struct Integrated {
    double mean = 0.0;
    double second = 0.0;
};
Integrated integrated(const DistributionQuantile& distribution, double cap)
{
    constexpr double floor = 1e-3;
    std::vector<double> x{0.0, floor * distribution.longest() / cap, distribution.longest()};
    for (int i = 8; i <= 480; ++i) {
        x.push_back(distribution(std::exp2(-i / 8.0), false));
        x.push_back(distribution(std::exp2(-i / 8.0), true));
    }
    std::sort(x.begin(), x.end());
    Integrated sums;
    constexpr int intervals = 16;
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
        const double step = (x[i + 1] - x[i]) / intervals;
        for (int k = 0; k <= intervals; ++k) {
            // Just inside the ends, where the probability may jump.
            const double at = x[i] + step * std::clamp<double>(k, 1e-9, intervals - 1e-9);
            const double weight = (k == 0 || k == intervals ? 1.0
                                   : k % 2 == 1             ? 4.0
                                                            : 2.0) *
                                  step / 3.0 * distribution.probability(at, true);
            sums.mean += weight;
            sums.second += 2.0 * at * weight;
        }
    }
    return sums;
}

TEST_P(Families, HaveMeanOne)
{
    // A jump lies somewhere in its cell, a sixteenth of the distance of two neighbouring quantiles.
    EXPECT_NEAR(integrated(distribution, row().distribution.cap).mean, 1.0, row().steps ? 2e-4 : 1e-9);
}

TEST_P(Families, HaveTheirVariance)
{
    const double variance = distribution.moments().variance;
    const Integrated sums = integrated(distribution, row().distribution.cap);
    EXPECT_NEAR(sums.second - sums.mean * sums.mean, variance,
                row().steps ? 2e-3 * variance : 1e-8 * (1.0 + variance));
    if (row().cv > 0.0) {
        EXPECT_NEAR(std::sqrt(variance), row().cv, 1e-6 * row().cv);
    }
    EXPECT_EQ(distribution.moments().mean, 1.0);
}

float lookup(const QuantileTable& table, double p, bool upper)
{
    const auto bits = static_cast<std::uint32_t>(p * 0x1p32);
    return table(upper ? ~bits : bits);
}

/// Error of the table in units of the deviation (or of the quartiles' distance, where a tail makes
/// most of the deviation); where the quantile is farther than that from the median, relative to that
/// distance. Where Q jumps, any value between its sides counts as right. Bound: (1/32)^2/12 p^2
/// |Q''| / Q for Q ~ p^-1.2 is 2.2e-4.
TEST_P(Families, AreTabulated)
{
    const Quantile quantile = [this](double p, bool upper) { return distribution(p, upper); };
    const QuantileTable table(quantile);
    const double quartiles = (distribution(0.25, true) - distribution(0.25, false)) / 1.349;
    const double spread =
        quartiles > 0.0 ? std::min(quartiles, distribution.moments().cv()) : distribution.moments().cv();
    const double median = distribution(0.5, false);
    double body = 0.0;
    double tails = 0.0;
    for (const bool upper : {false, true}) {
        for (int i = 0; i < 3000; ++i) {
            const double p = (std::floor(0x1.fffffep30 * std::pow(0.993, i)) + 0.5) * 0x1p-32;
            const double width = row().steps ? p / QuantileTable::segments_per_octave : 0.0;
            const double one = distribution(p - width, upper);
            const double other = distribution(std::min(0.75, p + width), upper);
            const double found = lookup(table, p, upper);
            constexpr double single_precision = 3e-7;
            const double error = std::max({0.0, std::min(one, other) - found, found - std::max(one, other)}) -
                                 single_precision * found;
            double& worst = p > 0x1p-10 ? body : tails;
            worst = std::max(worst, error <= 0.0 ? 0.0 : error / std::max(spread, std::abs(found - median)));
        }
    }
    RecordProperty("body_error", shown(body));
    RecordProperty("tail_error", shown(tails));
    RecordProperty("mean_error", shown(table.mean() - 1.0));
    EXPECT_LT(body, 3e-4);  // of an extreme-value distribution whose tail begins at once
    EXPECT_LT(tails, 2.2e-4);
    // Floats, and what lies beyond the table's last probability; kinks are found to
    // a part of their segment's rise.
    EXPECT_NEAR(table.mean(), 1.0,
                (row().steps ? 5e-6 : 2e-7) +
                    0x1p-33 * (distribution(deepest, true) - distribution(0x1p-33, true)));
}

/// The largest of 32,768 draws from the table, as for a barrier of as many GPUs.
TEST_P(Families, HaveTheirLargestOfManyInTheTable)
{
    constexpr double n = 32768.0;
    const Quantile quantile = [this](double p, bool upper) { return distribution(p, upper); };
    const QuantileTable table(quantile);
    const auto drawn = [&](double p) {  // between the two nearest of the table's probabilities
        const double at = std::clamp(p * 0x1p32 - 0.5, 0.0, 0x1p31 - 2.0);
        const double low = std::floor(at);
        const double a = lookup(table, (low + 0.5) * 0x1p-32, true);
        return a + (at - low) * (lookup(table, (low + 1.5) * 0x1p-32, true) - a);
    };
    const Quantile largest = largest_of(quantile, n);
    for (const double beyond : {0.5, 0.01}) {
        const double base = -std::expm1(std::log1p(-beyond) / n);
        const double error = drawn(base) / largest(beyond, true) - 1.0;
        RecordProperty(beyond == 0.5 ? "median_of_largest" : "p99_of_largest", shown(error));
        EXPECT_NEAR(error, 0.0, 2e-4) << beyond;
    }
    // Mean over the largest one's distribution: p^(n-1) n dp in terms of p = 1 - e^y, one grid for
    // both, which no octave repeats.
    double exact = 0.0;
    double found = 0.0;
    double p = deepest;
    while (p < 40.0 / n) {
        const double step = p < 0.01 / n ? 0.0377 : 0.00237;
        const double weight = step * p * std::exp((n - 1.0) * std::log1p(-p));
        exact += weight * distribution(p, true);
        found += weight * drawn(p);
        p *= std::exp(step);
    }
    RecordProperty("mean_of_largest", shown(found / exact - 1.0));
    EXPECT_NEAR(found / exact, 1.0, 2e-4);
}

TEST_P(Families, RefuseWhatIsNoProbability)
{
    for (const double p : {0.0, 1.0, -0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
        EXPECT_THROW(distribution(p, false), std::domain_error);
        EXPECT_THROW(distribution(p, true), std::domain_error);
    }
}

}  // namespace
}  // namespace prismopt
