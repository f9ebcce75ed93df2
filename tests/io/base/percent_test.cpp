#include "io/base/percent.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace prismopt {
namespace {

constexpr double no_share = std::numeric_limits<double>::quiet_NaN();

TEST(Percent, NoneAndAllAreSaidUpToTheRoundingOfSums)
{
    EXPECT_EQ(percent_text(0.0), "0.0 %");
    EXPECT_EQ(percent_text(1.0), "100.0 %");
    EXPECT_EQ(percent_text(1e-17), "0.0 %");
    EXPECT_EQ(percent_text(1.0 - 1e-12), "100.0 %");
    EXPECT_EQ(percent_text(-1e-17, 0), "0 %");
}

TEST(Percent, NoOtherShareReadsAsNoneOrAll)
{
    for (int decimals = 0; decimals <= 3; ++decimals) {
        const std::string none = percent_figure(0.0, decimals);
        const std::string all = percent_figure(1.0, decimals);
        for (double small = 1e-8; small < 0.5; small *= 1.1) {
            EXPECT_NE(percent_figure(small, decimals), none) << small;
            EXPECT_NE(percent_figure(-small, decimals), "-" + none) << small;
            EXPECT_NE(percent_figure(1.0 - small, decimals), all) << small;
        }
    }
    EXPECT_EQ(percent_text(0.0004), "<0.1 %");
    EXPECT_EQ(percent_text(0.0006), "0.1 %");
    EXPECT_EQ(percent_text(0.9996), ">99.9 %");
    EXPECT_EQ(percent_text(0.9994), "99.9 %");
    EXPECT_EQ(percent_text(0.996, 0), ">99 %");
    EXPECT_EQ(percent_text(-0.0004), ">-0.1 %");
}

TEST(Percent, OtherSharesAreRounded)
{
    EXPECT_EQ(percent_text(0.4132), "41.3 %");
    EXPECT_EQ(percent_figure(0.4132, 0), "41");
    EXPECT_EQ(percent_text(-0.034), "-3.4 %");
    EXPECT_EQ(percent_text(1.07), "107.0 %");
    EXPECT_EQ(percent_figure(no_share), "-");
}

TEST(Percent, DrawsProveNeither)
{
    EXPECT_EQ(chance_text(0.0), "<1 %");
    EXPECT_EQ(chance_text(0.344), "34 %");
    EXPECT_EQ(chance_text(1.0), ">99 %");
    EXPECT_EQ(chance_figure(no_share), "-");
}

TEST(Percent, SmallProbabilitiesKeepTwoDigits)
{
    EXPECT_EQ(probability_text(0.0), "0 %");
    EXPECT_EQ(probability_text(0.00012), "0.012 %");
    EXPECT_EQ(probability_text(0.0039), "0.39 %");
    EXPECT_EQ(probability_text(0.056), "5.6 %");
    EXPECT_EQ(probability_text(0.943), "94 %");
    EXPECT_EQ(probability_text(0.9982), "99.8 %");
    EXPECT_EQ(probability_text(0.9999), ">99.9 %");
    EXPECT_EQ(probability_text(1.0), "100 %");
}

TEST(Percent, ChangesHaveTheirSign)
{
    EXPECT_EQ(change_text(0.02414, 2), "+2.41 %");
    EXPECT_EQ(change_text(-0.5), "-50.0 %");
    EXPECT_EQ(relative_text(0.00513), "0.513 %");
}

}  // namespace
}  // namespace prismopt
