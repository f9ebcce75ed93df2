#include "model/run/changes/change_place.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace prismopt {
namespace {

/// Innovations of a filter that hears a shift of 1 before step `at`, without noise.
std::vector<FilteredInnovation> heard(SlowLevel& level, int count, int at, double noise)
{
    std::vector<FilteredInnovation> innovations;
    for (int i = 0; i < count; ++i) {
        level.advance();
        const double innovation = (i >= at ? 1.0 : 0.0) - level.expected();
        innovations.push_back({innovation, level.variance(noise), level.gain(noise)});
        level.update(innovation, noise);
    }
    return innovations;
}

TEST(LikeliestShift, FindsPlaceAndSizeExactlyWithoutNoise)
{
    constexpr double noise = 0.01;
    SlowLevel level({.swing = 0.02}, 60.0, 0.0);
    const ChangePlace place = likeliest_shift(heard(level, 300, 200, noise), level, 5, 1.0);
    EXPECT_EQ(place.index, 200);
    EXPECT_NEAR(place.size, 1.0, 1e-6);
    EXPECT_LE(place.low, 200);
    EXPECT_GE(place.high, 200);
    EXPECT_GT(place.deviation, 0.1 / std::sqrt(100.0));  // the level before is uncertain, too
    EXPECT_NEAR(place.likelihood, 0.5 / (place.deviation * place.deviation), 1e-3);
}

TEST(LikeliestShift, IsLessCertainWhereTheNoiseIsLarger)
{
    SlowLevel one({}, 60.0, 0.0);
    SlowLevel other({}, 60.0, 0.0);
    const ChangePlace near = likeliest_shift(heard(one, 300, 200, 0.01), one, 5, 1.0);
    const ChangePlace far = likeliest_shift(heard(other, 300, 200, 0.01), other, 5, 2.0);
    EXPECT_NEAR(far.deviation, 2.0 * near.deviation, 1e-12);
    EXPECT_NEAR(far.likelihood, near.likelihood / 4.0, 1e-9);
    EXPECT_LE(far.low, near.low);
}

}  // namespace
}  // namespace prismopt
