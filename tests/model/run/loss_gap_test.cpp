#include "model/run/loss_gap.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

/// The formula, written again with the published constants.
double loss(double parameters, double tokens)
{
    return 1.8172 + 482.01 * std::pow(parameters, -0.3478) + 2085.43 * std::pow(tokens, -0.3658);
}

TEST(LossGap, TokensReachTheSameLoss)
{
    for (const double gap : {0.0, 1e-4, 1e-3, 5e-3}) {
        for (const auto& [parameters, tokens] : {std::pair{1e9, 20e9}, std::pair{405e9, 15.6e12}}) {
            const auto needed = tokens_despite_gap(parameters, tokens, gap);
            ASSERT_TRUE(needed.has_value());
            EXPECT_NEAR((1.0 + gap) * loss(parameters, *needed), loss(parameters, tokens), 1e-12);
            EXPECT_EQ(*needed == tokens, gap == 0.0);
        }
    }
}

/// dD/D = gap L / (beta B D^-beta) for small gaps.
TEST(LossGap, SmallGapsFollowTheSlope)
{
    const double tokens = 1e12;
    const double gap = 1e-6;
    const double slope = loss(70e9, tokens) / (0.3658 * 2085.43 * std::pow(tokens, -0.3658));
    EXPECT_NEAR((*tokens_despite_gap(70e9, tokens, gap) / tokens - 1.0) / gap, slope, 1e-3 * slope);
}

TEST(LossGap, NoTokensMakeUpForALargeGap)
{
    EXPECT_FALSE(tokens_despite_gap(405e9, 15.6e12, 0.02).has_value());
    EXPECT_TRUE(tokens_despite_gap(1e9, 20e9, 0.02).has_value());
}

TEST(LossGap, KnowsHowFarARunIsBeyondItsFit)
{
    EXPECT_EQ(beyond_loss_fit(1e9, 20e9), 1.0);
    EXPECT_DOUBLE_EQ(beyond_loss_fit(32e9, 20e9), 2.0);
    EXPECT_DOUBLE_EQ(beyond_loss_fit(32e9, 15e12), 30.0);
}

TEST(LossGap, PublishedGapsGrowAsBitsFall)
{
    EXPECT_FALSE(published_loss_gap(Precision::fp32).has_value());
    EXPECT_FALSE(published_loss_gap(Precision::tf32).has_value());
    EXPECT_EQ(published_loss_gap(Precision::bf16)->gap.high, 0.0);
    const auto fp8 = published_loss_gap(Precision::fp8);
    const auto fp4 = published_loss_gap(Precision::nvfp4);
    ASSERT_TRUE(fp8 && fp4);
    EXPECT_LE(fp8->gap.low, fp8->gap.high);
    EXPECT_LT(fp8->gap.expected(), fp4->gap.expected());
}

}  // namespace
}  // namespace prismopt
