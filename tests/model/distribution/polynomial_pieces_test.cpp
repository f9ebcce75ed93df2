#include "model/distribution/polynomial_pieces.hpp"

#include "model/distribution/distribution.hpp"
#include "model/step/sample/op_window.hpp"
#include "tests/support/distribution_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace prismopt {
namespace {

double exact_score(std::uint32_t bits)
{
    const bool upper = bits >> 31 != 0;
    return normal_quantile((static_cast<double>(upper ? ~bits : bits) + 0.5) * 0x1p-32, upper);
}

/// Every octave at 1,000 places, both sides, and the ends.
std::vector<std::uint32_t> probes()
{
    std::vector<std::uint32_t> bits{0U, 1U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFEU, 0xFFFFFFFFU};
    for (int octave = 1; octave < 32; ++octave) {
        for (int i = 0; i < 1000; ++i) {
            const auto low = static_cast<std::uint32_t>(std::ldexp(0.5 + i / 2000.0, octave));
            bits.push_back(low);
            bits.push_back(~low);
        }
    }
    return bits;
}

TEST(NormalScores, FollowBoost)
{
    const NormalScores scores(normal_quantile);
    double worst = 0.0;
    for (const std::uint32_t bits : probes()) {
        worst = std::max(worst, std::abs(static_cast<double>(scores(bits)) - exact_score(bits)));
    }
    EXPECT_LT(worst, 7e-5);
    RecordProperty("largest error", std::to_string(worst));
}

TEST(NormalScores, RiseAndAreSymmetric)
{
    const NormalScores scores(normal_quantile);
    auto bits = probes();
    std::sort(bits.begin(), bits.end());
    for (std::size_t i = 1; i < bits.size(); ++i) {
        EXPECT_LE(scores(bits[i - 1]), scores(bits[i]) + 1e-6F) << bits[i];
        EXPECT_EQ(scores(bits[i]), -scores(~bits[i])) << bits[i];
    }
}

/// Sixteen lanes at a time, whatever the machine: the same bits as one at a time.
TEST(StandardDistributions, InLanesEqualOneByOne)
{
    const NormalScores scores(normal_quantile);
    const DistributionQuantile gamma({Gamma{0.8}, {}, 1e6, "test"});
    const StandardDistribution distribution([&gamma](double p,
                                                     bool upper) { return (gamma(p, upper) - 1.0) / 0.8; },
                                            StandardDistribution::node_probabilities());
    auto bits = probes();
    bits.resize(bits.size() / lanes * lanes);
    for (std::size_t first = 0; first < bits.size(); first += lanes) {
        Words words;
        std::copy_n(bits.begin() + static_cast<std::ptrdiff_t>(first), lanes, words.at);
        Floats out;
        standard_draws(scores, distribution, words, out);
        for (int l = 0; l < lanes; ++l) {
            ASSERT_EQ(out.at[l], distribution(scores(words.at[l]))) << words.at[l];
        }
    }
}

/// From nearly normal to a kernel alone with a deviation as large as its mean. In the body, where quantiles
/// of a step come from, within 1e-3 deviations; in the tails relative to the value.
TEST(StandardDistributions, FollowTheirQuantiles)
{
    const NormalScores scores(normal_quantile);
    for (const double cv : {0.01, 0.1, 0.3, 1.0}) {
        for (const Family& family : {Family{LogNormal{cv}}, Family{Gamma{cv}}}) {
            const DistributionQuantile exact({family, {}, 1e6, "test"});
            const StandardDistribution distribution(
                [&exact, cv](double p, bool upper) { return (exact(p, upper) - 1.0) / cv; },
                StandardDistribution::node_probabilities());
            for (const std::uint32_t bits : probes()) {
                const bool upper = bits >> 31 != 0;
                const double p = (static_cast<double>(upper ? ~bits : bits) + 0.5) * 0x1p-32;
                const double truth = (exact(p, upper) - 1.0) / cv;
                EXPECT_NEAR(distribution(scores(bits)), truth, 1e-3 * std::max(1.0, std::abs(truth)))
                    << family.index() << " " << cv << " " << p;
            }
        }
    }
}

/// Mean of f(distribution) over all words: 64 places in each octave of probability, from either tail.
template <class Function>
double mean_over_words(const StandardDistribution& distribution, const NormalScores& scores, Function&& f)
{
    constexpr int places = 64;
    double sum = 0.0;
    for (int octave = 0; octave < 31; ++octave) {
        for (int place = 0; place < places; ++place) {
            const auto word = static_cast<std::uint32_t>(std::ldexp(1.0 + (place + 0.5) / places, octave));
            const double weight = std::ldexp(1.0, octave - 32) / places;
            sum += weight * (f(distribution(scores(word))) + f(distribution(scores(~word))));
        }
    }
    return sum;
}

/// Distributions with jumps and far modes too, through which the pieces draw straight lines.
TEST(StandardDistributions, HaveMeanZeroAndDeviationOne)
{
    const NormalScores scores(normal_quantile);
    const auto probability = StandardDistribution::node_probabilities();
    double largest_shift = 0.0;
    for (const DistributionCase& row : distribution_cases()) {
        const DistributionQuantile exact(row.distribution);
        const double deviation = std::sqrt(exact.moments().variance);
        if (deviation == 0.0) {
            continue;
        }
        StandardDistribution distribution(
            [&](double p, bool upper) { return (exact(p, upper) - 1.0) / deviation; }, probability);
        largest_shift = std::max(largest_shift,
                                 std::abs(mean_over_words(distribution, scores, [](double x) { return x; })));
        distribution.standardise(probability);
        // The scores' own error is 7e-5, and the rule of the mean as good where a piece is cubic.
        EXPECT_NEAR(mean_over_words(distribution, scores, [](double x) { return x; }), 0.0, 5e-4) << row.name;
        // Caps a thousand times the mean and more: half of the variance lies where the distribution function
        // is not taken for a cubic any more.
        const double of_square = row.distribution.cap > 1e3 ? 0.05 : 2e-3;
        EXPECT_NEAR(mean_over_words(distribution, scores, [](double x) { return x * x; }), 1.0, of_square)
            << row.name;
    }
    EXPECT_GT(largest_shift, 0.01);  // some of these distributions need it
    StandardDistribution constant([](double, bool) { return 0.0; }, probability);
    constant.standardise(probability);
    EXPECT_EQ(constant(1.0F), 0.0F);
}

}  // namespace
}  // namespace prismopt
