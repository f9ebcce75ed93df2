/// As tests/model/calibration/fit/degenerate_values_test.cpp, with many more seeds.

#include "tests/support/degenerate_values.hpp"

#include "model/calibration/fit/fit_distribution.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

TEST(DegenerateValuesLong, ADistributionIsChosenWhateverTheyAre)
{
    for (const std::string& kind : degenerate_kinds()) {
        for (std::uint64_t seed = 100; seed < 250; ++seed) {
            const DistributionFit fit = fit_distribution(degenerate_values(kind, seed).values, "test");
            EXPECT_NEAR(DistributionQuantile(fit.distribution).moments().mean, 1.0, 1e-6)
                << kind << ' ' << seed;
            EXPECT_TRUE(std::isfinite(fit.ks)) << kind << ' ' << seed;
        }
    }
}

}  // namespace
}  // namespace prismopt
