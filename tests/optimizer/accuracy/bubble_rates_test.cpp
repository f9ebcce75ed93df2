#include "optimizer/schedule_study/bubble_rates.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

/// Qi et al., arXiv 2401.10241, tables 5 and 8; what their authors calculated from times that we predict.
TEST(BubbleRates, AreThePublishedOnesWithinTwoPoints)
{
    int rows = 0;
    for (const RatedCase& own : rated_cases()) {
        for (const RatedSchedule& s : own.schedules) {
            EXPECT_NEAR(s.ours, s.published, 0.02)
                << own.network.name << ' ' << own.network.stages << ' ' << s.name << ' ' << s.microbatches;
            ++rows;
        }
    }
    EXPECT_EQ(rows, 51);
}

}  // namespace
}  // namespace prismopt
