#include "model/run/changes/change_place.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace prismopt {
namespace {

/// A shift of 1 before step `at`.
std::vector<double> shifted(std::size_t count, std::size_t at)
{
    std::vector<double> values(count, 0.0);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(at), values.end(), 1.0);
    return values;
}

TEST(LikeliestShift, FindsThePlaceExactlyWithoutNoise)
{
    for (const Autoregression& noise :
         {Autoregression{.coefficients = {0.0}, .innovation_deviation = 0.2},
          Autoregression{.coefficients = {0.5, 0.3, 0.1}, .innovation_deviation = 0.2}}) {
        const ChangePlace place = likeliest_shift(shifted(60, 40), noise);
        EXPECT_EQ(place.index, 40U);
        EXPECT_LE(place.low, 40U);
        EXPECT_GE(place.high, 40U);
    }
}

TEST(LikeliestShift, IsLessCertainWhereTheNoiseIsLarger)
{
    const ChangePlace near =
        likeliest_shift(shifted(60, 40), {.coefficients = {0.0}, .innovation_deviation = 0.5});
    const ChangePlace far =
        likeliest_shift(shifted(60, 40), {.coefficients = {0.0}, .innovation_deviation = 1.5});
    EXPECT_LT(far.low, near.low);
    EXPECT_GT(far.high, near.high);
}

TEST(BestSplit, IgnoresSingleValues)
{
    std::vector<double> values = shifted(100, 30);
    values[80] = 1e3;
    const Split split = best_split(values, 10, 2.0);
    EXPECT_EQ(split.first, 30U);
    EXPECT_EQ(split.before, 0.0);
    EXPECT_EQ(split.after, 1.0);
    EXPECT_TRUE(separates(values, split));
}

TEST(BestSplit, DoesNotSeparateLevelsThatAlternate)
{
    std::vector<double> values;
    for (int i = 0; i < 101; ++i) {
        values.push_back(i % 2);
    }
    EXPECT_FALSE(separates(values, best_split(values, 10, 2.0)));
}

}  // namespace
}  // namespace prismopt
