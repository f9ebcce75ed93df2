#include "optimizer/calibration_study/written_laws.hpp"

#include <gtest/gtest.h>

#include <set>

namespace prismopt {
namespace {

/// Parts of the variance present in turn: the written law has its cv, and no law is written of what does not vary. The study judges
/// more parts (jobs/calibration_study), which take longer.
TEST(WrittenLaws, have_the_variance_of_the_job)
{
    int there = 0;
    int missed = 0;
    int absent = 0;
    int invented = 0;
    const std::set<std::string> quick{"operations only", "step", "GPU", "communication of a step"};
    for (const KnownJob& known : known_jobs()) {
        if (!quick.contains(known.part)) {
            continue;
        }
        for (const WrittenLaw& law : written_laws(known, 7)) {
            const std::string what = known.part + ", " + law.key;
            (law.truth > 0.0 ? there : absent) += 1;
            if (law.truth > 0.0) {
                missed += law.right() ? 0 : 1;
                EXPECT_EQ(law.written, Written::law) << what;
                // Gross errors: beyond three standard errors of the spread of 24 GPUs (1/sqrt(48)), and of a law of 1,000 steps.
                EXPECT_NEAR(law.cv, law.truth, law.key == "gpu" ? 0.5 * law.truth : 0.12 * law.truth) << what;
            } else {
                invented += law.right() ? 0 : 1;
                EXPECT_TRUE(law.right() || law.cv < 0.01) << what << ' ' << law.cv;
            }
            EXPECT_TRUE(law.key != "node" || law.written == Written::left) << what;
            EXPECT_TRUE(law.key != "residual.elementwise" || law.written == Written::left) << what;
        }
    }
    // Limits of 95 %: one law in twenty may miss, and one in forty may be of chance.
    EXPECT_EQ(there, 15);
    EXPECT_LE(missed, 1);
    EXPECT_GT(absent, 20);
    EXPECT_LE(invented, 1);
}

}  // namespace
}  // namespace prismopt
