#include "model/run/failure_tables.hpp"

#include "tests/support/failure_runs.hpp"

#include "model/distribution/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace prismopt {
namespace {

/// The remainder of a gap has the mean E[gap^2] / (2 E[gap]) and P(rest > x) = the integral of P(gap > t)
/// from x on: at each quantile of the table, by the midpoint rule in log t.
TEST(FirstGaps, AreRemaindersOfGaps)
{
    FailureTables tables(exponential_gaps());
    for (const double cv : {0.3, 1.0, 2.95, 8.0}) {
        for (const GapFamily family : {GapFamily::gamma, GapFamily::weibull}) {
            const QuantileTable& rest = tables.first_gaps({family, cv});
            EXPECT_NEAR(rest.mean(), 0.5 * (1.0 + cv * cv), 1e-5 * (1.0 + cv * cv)) << cv;
            const FamilyFunctions gap =
                functions_of(family == GapFamily::gamma ? Family{Gamma{cv}} : Family{Weibull{cv}});
            for (const double p : {0.001, 0.1, 0.5, 0.9, 0.999}) {
                const auto quantile = static_cast<double>(rest(static_cast<std::uint32_t>(p * 0x1p32)));
                double below = 0.0;
                constexpr double step = 1e-3;
                const double range = std::log(quantile) + 20.0;  // from e^-20 on
                for (int i = 0; i < static_cast<int>(range / step); ++i) {
                    const double t = quantile * std::exp(-(i + 0.5) * step);
                    below += gap.probability(t, true) * t * step;
                }
                // The table errs by 1e-4 of the value at most.
                EXPECT_NEAR(below, p, 3e-4 * std::min(quantile, 1.0) + 1e-8) << cv << ' ' << p;
            }
        }
    }
}

TEST(FirstGaps, AreTheGapsThemselvesOfPoissonProcessesAndTimetables)
{
    FailureTables tables(exponential_gaps());
    for (const GapDistribution distribution :
         {GapDistribution{}, GapDistribution{GapFamily::constant, 0.0}}) {
        EXPECT_EQ(&tables.first_gaps(distribution), &tables.gaps(distribution));
    }
}

}  // namespace
}  // namespace prismopt
