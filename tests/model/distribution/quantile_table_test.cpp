#include "model/distribution/quantile_table.hpp"

#include "tests/support/distribution_cases.hpp"

#include <gtest/gtest.h>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>

namespace prismopt {
namespace {

double exponential(double p, bool upper) { return upper ? -std::log(p) : -std::log1p(-p); }

/// All bits near the ends, then every octave from both tails at many places between its knots.
std::vector<std::uint32_t> bit_probes()
{
    std::vector<std::uint32_t> bits;
    for (std::uint32_t b = 0; b < 64; ++b) {
        bits.push_back(b);
    }
    for (int octave = 6; octave < 31; ++octave) {
        for (std::uint32_t k = 0; k < 256; ++k) {
            bits.push_back((1U << octave) +
                           static_cast<std::uint32_t>((static_cast<std::uint64_t>(k) << octave) / 256));
        }
    }
    bits.push_back(0x7FFFFFFFU);
    const std::size_t lower = bits.size();
    for (std::size_t i = 0; i < lower; ++i) {
        bits.push_back(~bits[i]);
    }
    return bits;
}

double exact(const Quantile& quantile, std::uint32_t bits)
{
    const bool upper = bits >> 31 != 0;
    return quantile((static_cast<double>(upper ? ~bits : bits) + 0.5) * 0x1p-32, upper);
}

double largest_error(const Quantile& quantile)
{
    const QuantileTable table(quantile);
    double worst = 0.0;
    for (const std::uint32_t bits : bit_probes()) {
        worst = std::max(worst, std::abs(static_cast<double>(table(bits)) - exact(quantile, bits)));
    }
    return worst;
}

/// A piece with the segment's mean and the chord's rise errs by at most h^2 / 12 |Q''| (at its ends) with h
/// <= p / 32 between knots: (1/32)^2 / 12 = 8.1e-5 times the largest p^2 |Q''|, which is 0.43 for the normal
/// distribution (near p = 0.18) and 1 for the exponential distribution (its whole upper tail). Tails end at
/// 2^-33 on both sides, so the same bound holds there. Single precision adds 4e-7 of a value of at most 23;
/// the next term of the expansion is a thirty-second part.
TEST(QuantileTable, ErrsLessThanItsPiecesMay)
{
    EXPECT_LT(largest_error(normal_quantile), 0.43 * 8.14e-5 * 1.05 + 1e-5);
    EXPECT_LT(largest_error(exponential), 1.0 * 8.14e-5 * 1.05 + 1e-5);
    EXPECT_GT(largest_error(exponential), 7.5e-5);  // the bound is sharp: the probes do meet knots
}

/// In the middle of its segment a linear piece has its mean: of -log p from a
/// to b, [p (1 - log p)] / (b - a).
TEST(QuantileTable, KeepsTheMeanOfEachSegment)
{
    const QuantileTable table(exponential);
    for (int octave = 8; octave < 31; ++octave) {
        for (std::uint32_t k = 0; k < QuantileTable::segments_per_octave; ++k) {
            const double width = std::ldexp(1.0, octave) / QuantileTable::segments_per_octave;
            const double a = (std::ldexp(1.0, octave) + k * width) * 0x1p-32;
            const double b = a + width * 0x1p-32;
            const double mean = (b * (1.0 - std::log(b)) - a * (1.0 - std::log(a))) / (b - a);
            // Between the two probabilities beside the middle.
            const auto bits = static_cast<std::uint32_t>(0.5 * (a + b) * 0x1p32);
            const double found =
                0.5 * (static_cast<double>(table(~bits)) + static_cast<double>(table(~(bits - 1))));
            EXPECT_NEAR(found, mean, 2e-6) << octave << " " << k;  // floats of up to 23
        }
    }
}

TEST(QuantileTable, KeepsItsEnds)
{
    const QuantileTable table(normal_quantile);
    EXPECT_NEAR(table(0), normal_quantile(0x1p-33, false), 4e-5);
    EXPECT_NEAR(table(0xFFFFFFFFU), normal_quantile(0x1p-33, true), 4e-5);
    EXPECT_NEAR(table(0x7FFFFFFFU), 0.0, 1e-6);
    EXPECT_NEAR(table(0x80000000U), 0.0, 1e-6);
}

/// A jump becomes a slope within its segment: no value outside, the mean as it was.
TEST(QuantileTable, KeepsJumpsInBoundsAndTheirMean)
{
    for (const double slow : {0.3, 0.1, 0.0123, 1e-3, 1e-4, 1e-6}) {
        const QuantileTable table([slow](double p, bool upper) { return upper && p < slow ? 2.0 : 1.0; });
        for (const std::uint32_t bits : bit_probes()) {
            EXPECT_GE(table(bits), 1.0F);
            EXPECT_LE(table(bits), 2.0F);
        }
        EXPECT_NEAR(table.mean(), 1.0 + slow, 1e-7) << slow;
    }
}

TEST(QuantileTable, RisesWithItsBits)
{
    const QuantileTable table(exponential);
    std::vector<std::uint32_t> bits = bit_probes();
    std::sort(bits.begin(), bits.end());
    for (std::size_t i = 1; i < bits.size(); ++i) {
        EXPECT_LE(table(bits[i - 1]), table(bits[i])) << bits[i];
    }
}

TEST(QuantileTable, MeanIsTheMeanOfTheDistribution)
{
    EXPECT_NEAR(QuantileTable(normal_quantile).mean(), 0.0, 1e-7);
    EXPECT_NEAR(QuantileTable(exponential).mean(), 1.0, 1e-7);
    EXPECT_NEAR(QuantileTable([](double, bool) { return 3.0; }).mean(), 3.0, 1e-6);
}

TEST(QuantileTable, BetweenTwoTablesIsTheirMixtureOfQuantiles)
{
    const QuantileTable a(normal_quantile);
    const QuantileTable b(exponential);
    const QuantileTable between(a, b, 0.25);
    for (const std::uint32_t bits : bit_probes()) {
        EXPECT_NEAR(between(bits), 0.75F * a(bits) + 0.25F * b(bits), 1e-5F);
    }
}

/// A barrier of 4,096 members, each drawn: harmonic numbers for the exponential distribution,
/// numerical integration for the normal.
struct Largest {
    double mean;
    double deviation;
    double median;
    double p99;
};
constexpr int members = 4096;
constexpr int barriers = 2000;

Largest largest_exponential()
{
    double mean = 0.0;
    double variance = 0.0;
    for (int k = 1; k <= members; ++k) {
        mean += 1.0 / k;
        variance += 1.0 / k / k;
    }
    return {mean, std::sqrt(variance), -std::log1p(-std::pow(0.5, 1.0 / members)),
            -std::log1p(-std::pow(0.99, 1.0 / members))};
}

Largest largest_normal()
{
    const boost::math::normal z;
    double mean = 0.0;
    double square = 0.0;
    constexpr double step = 1e-3;
    for (int i = -2000; i < 9000; ++i) {
        const double x = i * step;
        const double density = members * pdf(z, x) * std::pow(cdf(z, x), members - 1) * step;
        mean += density * x;
        square += density * x * x;
    }
    return {mean, std::sqrt(square - mean * mean), quantile(z, std::pow(0.5, 1.0 / members)),
            quantile(z, std::pow(0.99, 1.0 / members))};
}

std::vector<double> drawn_barriers(const QuantileTable& table)
{
    std::vector<double> largest(barriers, -1e9);
    Words fleet;
    Words member;
    std::array<Words, 4> words;
    for (std::uint32_t barrier = 0; barrier < barriers; ++barrier) {
        std::fill_n(fleet.at, lanes, barrier);
        for (std::uint32_t block = 0; block < members / (4 * lanes); ++block) {
            for (std::uint32_t l = 0; l < lanes; ++l) {
                member.at[l] = block * lanes + l;
            }
            philox_lanes(11, fleet, member, 0, 0, words);
            for (const Words& w : words) {
                for (const std::uint32_t bits : w.at) {
                    largest[barrier] = std::max(largest[barrier], static_cast<double>(table(bits)));
                }
            }
        }
    }
    std::sort(largest.begin(), largest.end());
    return largest;
}

double mean_of_drawn(const std::vector<double>& values)
{
    double sum = 0.0;
    for (const double v : values) {
        sum += v;
    }
    return sum / static_cast<double>(values.size());
}

TEST(LargestOfMany, DrawnOneByOneMatchesTheClosedForm)
{
    for (const auto& [distribution, truth] : {std::pair{Quantile(exponential), largest_exponential()},
                                              {Quantile(normal_quantile), largest_normal()}}) {
        const std::vector<double> largest = drawn_barriers(QuantileTable(distribution));
        EXPECT_NEAR(mean_of_drawn(largest), truth.mean, 4.0 * truth.deviation / std::sqrt(barriers));
        // Ranks 4 binomial deviations either side of the median and of p99.
        EXPECT_GT(truth.median, largest[1000 - 4 * 23]);
        EXPECT_LT(truth.median, largest[1000 + 4 * 23]);
        EXPECT_GT(truth.p99, largest[1980 - 18]);
        EXPECT_LT(truth.p99, largest[1980 + 18]);
    }
}

TEST(LargestOfMany, FromOneDrawMatchesTheClosedForm)
{
    for (const auto& [distribution, truth] : {std::pair{Quantile(exponential), largest_exponential()},
                                              {Quantile(normal_quantile), largest_normal()}}) {
        const Quantile largest = largest_of(distribution, members);
        const Moments m = moments(largest);
        EXPECT_NEAR(m.mean, truth.mean, 1e-5);
        EXPECT_NEAR(std::sqrt(m.variance), truth.deviation, 1e-4);
        EXPECT_NEAR(largest(0.5, false), truth.median, 1e-9);
        EXPECT_NEAR(largest(0.01, true), truth.p99, 1e-9);
        // As the sampler sees it: floats.
        const QuantileTable table(largest);
        EXPECT_NEAR(table.mean(), truth.mean, 1e-6 * truth.mean);
    }
}

/// Where the largest of n is at most x, all n are: n log F(x) = log p, in the far tails too.
TEST(LargestOf, HoldsTheProductRuleInBothTails)
{
    for (const double n : {2.0, 8.0, 4096.0, 1e6}) {
        const Quantile largest = largest_of(exponential, n);
        for (const double p : {1e-12, 1e-6, 0.01, 0.4}) {
            const double low = largest(p, false);
            EXPECT_NEAR(n * std::log(-std::expm1(-low)) / std::log(p), 1.0, 1e-9) << n << " " << p;
            const double high = largest(p, true);
            EXPECT_NEAR(n * std::log1p(-std::exp(-high)) / std::log1p(-p), 1.0, 1e-9) << n << " " << p;
        }
    }
    EXPECT_EQ(largest_of(normal_quantile, 1.0)(0.123, true), normal_quantile(0.123, true));
}

TEST(Moments, MatchClosedForms)
{
    const Moments n = moments([](double p, bool upper) { return 5.0 + 2.0 * normal_quantile(p, upper); });
    EXPECT_NEAR(n.mean, 5.0, 1e-9);
    EXPECT_NEAR(n.variance, 4.0, 1e-7);
    EXPECT_NEAR(n.skewness(), 0.0, 1e-9);
    EXPECT_NEAR(n.cv(), 0.4, 1e-8);

    const Moments e = moments(exponential);
    EXPECT_NEAR(e.mean, 1.0, 1e-7);
    EXPECT_NEAR(e.variance, 1.0, 1e-7);
    EXPECT_NEAR(e.skewness(), 2.0, 1e-6);

    const double sigma = 0.3;
    const Moments l =
        moments([sigma](double p, bool upper) { return std::exp(sigma * normal_quantile(p, upper)); });
    const double w = std::exp(sigma * sigma);
    EXPECT_NEAR(l.mean, std::sqrt(w), 1e-8);
    EXPECT_NEAR(l.variance, w * (w - 1.0), 1e-8);
    EXPECT_NEAR(l.skewness(), (w + 2.0) * std::sqrt(w - 1.0), 1e-6);

    const Moments none = moments([](double, bool) { return 2.0; });
    EXPECT_NEAR(none.mean, 2.0, 1e-12);
    EXPECT_NEAR(none.cv(), 0.0, 1e-9);
}

}  // namespace
}  // namespace prismopt
