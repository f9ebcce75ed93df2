#include "model/plan/straddling.hpp"

#include "tests/support/random_groups.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

/// With the advised units, no groups of any kind straddle.
TEST(Straddling, AdvisesUnitsThatFit)
{
    RandomValues random(6);
    int advised = 0;
    for (int i = 0; i < random_cases; ++i) {
        const Case c = random_case(random);
        for (const Straddling& straddling : straddling_groups(c.plan, c.cluster)) {
            EXPECT_GT(straddling.sets, 0) << text_of(c);
            EXPECT_LE(straddling.sets, straddling.of_sets) << text_of(c);
            if (straddling.fitting_unit == 0) {
                continue;
            }
            ++advised;
            Cluster better = c.cluster;
            for (std::size_t tier = straddling.tier; tier < better.tiers.size(); ++tier) {
                better.tiers[tier].group_gpus =
                    better.tiers[tier].group_gpus / straddling.unit * straddling.fitting_unit;
            }
            better.gpus = better.gpus / straddling.unit * straddling.fitting_unit;
            EXPECT_EQ(straddling.fitting_unit % (c.plan.tp * c.plan.cp), 0) << text_of(c);
            EXPECT_EQ(better.gpus, straddling.fitting_gpus) << text_of(c);
            EXPECT_TRUE(straddling_groups(c.plan, better).empty()) << text_of(c);
        }
    }
    EXPECT_GT(advised, 10);
}

}  // namespace
}  // namespace prismopt
