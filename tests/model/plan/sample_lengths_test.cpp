#include "model/plan/sample_lengths.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

constexpr int sequence = 4096;

/// Half of the samples are short, half are long.
SampleLengths two_lengths(double low, double high, Batching batching)
{
    return {{{0.0, low}, {0.5, low}, {0.5, high}, {1.0, high}}, batching};
}

SampleLengths chats(Batching batching) { return {lognormal_lengths(300.0, 0.9), batching}; }

double squares(const LengthMix& mix)  // over the tokens
{
    double sum = 0.0;
    for (const LengthShare& of : mix.lengths) {
        sum += of.share * of.tokens;
    }
    return sum;
}

double square(int tokens) { return static_cast<double>(tokens) * tokens; }

TEST(SampleLengths, ALognormalHasItsMean)
{
    EXPECT_NEAR(mean_tokens(chats(Batching::padded), 1 << 20) / (300.0 * std::exp(0.5 * 0.9 * 0.9)), 1.0,
                2e-3);
}

TEST(SampleLengths, LongSamplesAreCut)
{
    EXPECT_EQ(mean_tokens(two_lengths(1000.0, 9000.0, Batching::padded), 5000), 3000.0);
}

/// P(all short) = 2^-b.
TEST(SampleLengths, PaddedMicrobatchesAreAsLongAsTheirLongest)
{
    const SampleLengths lengths = two_lengths(100.0, 1000.0, Batching::padded);
    const double filled = filled_share(lengths, sequence);
    EXPECT_DOUBLE_EQ(filled, 550.0 / sequence);
    for (const int b : {1, 2, 3, 8}) {
        const double all_short = std::pow(0.5, b);
        const double mean = 100.0 * all_short + 1000.0 * (1.0 - all_short);
        const LengthMix mix = length_mix(lengths, sequence, b, filled);
        EXPECT_NEAR(mix.tokens, mean / sequence, 1e-12) << b;
        EXPECT_NEAR(squares(mix) * mean, 1e4 * all_short + 1e6 * (1.0 - all_short), 1e-6) << b;
        double probability = 0.0;
        double attention = 0.0;
        for (const MicrobatchWork& of : microbatch_work(lengths, sequence, b, {1000.0, square})) {
            probability += of.probability;
            attention += of.probability * of.attention;
        }
        EXPECT_NEAR(probability, 1.0, 1e-12);
        EXPECT_NEAR(attention, squares(mix) * mean, 1e-6);
    }
}

/// Each sample is in one sequence, so that attention over tokens is E[l^2] /
/// E[l], whatever is packed with what.
TEST(SampleLengths, PackedAttentionIsThatOfItsSamples)
{
    for (const Batching batching : {Batching::packed, Batching::tokens}) {
        const SampleLengths lengths = chats(batching);
        const double filled = filled_share(lengths, sequence);
        EXPECT_GT(filled, 0.99);
        EXPECT_LE(filled, 1.0);
        const double over_tokens = squares(trained_mix(lengths, sequence, filled));
        EXPECT_NEAR(over_tokens / squares(trained_mix(chats(Batching::padded), sequence, 1.0)), 1.0, 1e-12);
        for (const int b : {1, 4}) {
            double tokens = 0.0;
            double attention = 0.0;
            double spread = 0.0;
            const auto all = microbatch_work(lengths, sequence, b, {1000.0, square});
            for (const MicrobatchWork& of : all) {
                tokens += of.probability * of.tokens;
                attention += of.probability * of.attention;
            }
            for (const MicrobatchWork& of : all) {
                spread += of.probability * std::pow(of.attention / attention - 1.0, 2.0);
            }
            const double error = 4.0 * std::sqrt(spread / static_cast<double>(all.size()));
            EXPECT_NEAR(attention / (filled * b * sequence * over_tokens), 1.0, error) << b;
            EXPECT_NEAR(tokens / (b * sequence), 1.0, error) << b;
            EXPECT_GT(spread, 0.01 / b) << b;
        }
    }
}

TEST(SampleLengths, FlattenedSamplesHaveNoPadding)
{
    const SampleLengths lengths = two_lengths(100.0, 1000.0, Batching::flattened);
    const double filled = filled_share(lengths, sequence);
    EXPECT_DOUBLE_EQ(filled, 550.0 / sequence);
    for (const int b : {1, 2}) {
        const LengthMix mix = length_mix(lengths, sequence, b, filled);
        EXPECT_DOUBLE_EQ(mix.tokens, filled);
        EXPECT_NEAR(squares(mix), (1e4 + 1e6) / 1100.0, 1e-9);
        const auto all = microbatch_work(lengths, sequence, b, {1.0, square});
        EXPECT_EQ(all.front().tokens, b * 100.0);
        EXPECT_EQ(all.back().tokens, b * 1000.0);
        EXPECT_EQ(all.back().attention, b * 1e6);
        double both = 0.0;
        for (const MicrobatchWork& of : all) {
            both += of.tokens == 1100.0 ? of.probability : 0.0;
        }
        EXPECT_NEAR(both, b == 1 ? 0.0 : 0.5, 0.03);
    }
}

TEST(SampleLengths, LargeSamplesLeaveSequencesOpen)
{
    const SampleLengths lengths{{{0.0, 0.6 * sequence}, {1.0, 0.6 * sequence}}, Batching::packed};
    EXPECT_NEAR(filled_share(lengths, sequence), 0.6, 1e-3);
    const LengthMix mix = length_mix(lengths, sequence, 1, 0.6);
    EXPECT_EQ(mix.tokens, 1.0);
    EXPECT_TRUE(mix.shares_sequences);
    EXPECT_NEAR(squares(mix), 0.6 * 0.6 * sequence, 1.0);
}

TEST(SampleLengths, QuantilesOfRareLongSamplesAreBelowTheMean)
{
    SampleLengths lengths{{{0.0, 10.0}, {0.97, 10.0}, {0.97, 4000.0}, {1.0, 4000.0}}, Batching::padded};
    EXPECT_FALSE(quantiles_reach_means(lengths, sequence, 0.95));
    EXPECT_TRUE(quantiles_reach_means(lengths, sequence, 0.99));
    EXPECT_GT(skewness_of_squares(lengths, sequence), 3.0);
    lengths.quantiles = {{0.0, 10.0}, {1.0, 10.0}};
    EXPECT_EQ(skewness_of_squares(lengths, sequence), 0.0);
    EXPECT_EQ(cv_of(lengths, sequence), 0.0);
}

}  // namespace
}  // namespace prismopt
