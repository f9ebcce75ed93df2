#include "optimizer/api/improve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Where no file can be changed for want of an export, its reason is given, and the values are those of axes.
TEST(ImproveText, NamesWhyAPlanIsNotWrittenIntoTheFiles)
{
    Improvement of;
    of.plans.resize(1);
    of.plans.front().axes = 1;
    JobChange change{.files = {},
                     .diff = {},
                     .settings = {"v=10"},
                     .refused = {"it has no such schedule"},
                     .environment = {},
                     .not_given = {}};
    EXPECT_THAT(job_changes_text(of, {change}), HasSubstr("Axes to change (it is not exported to the trainer "
                                                          "of the job: it has no such schedule):\n  v=10"));
    change.refused.clear();
    EXPECT_THAT(job_changes_text(of, {change}), Not(HasSubstr("exported")));
    EXPECT_THAT(job_changes_text(of, {change}), HasSubstr("Settings to change (no change of the files"));
}

TEST(ImproveText, NamesFilesToGiveAndWhatTheEnvironmentNeeds)
{
    Improvement of;
    of.plans.resize(1);
    of.plans.front().axes = 1;
    JobChange change;
    change.settings = {"training.local_batch_size = 4"};
    change.not_given = {"llama8b.toml"};
    EXPECT_THAT(job_changes_text(of, {change}), HasSubstr("improve with llama8b.toml as one more FILE"));
    change.diff = "--- job.sh\n";
    change.environment = {"QUEUES=32"};
    EXPECT_THAT(job_changes_text(of, {change}), HasSubstr("QUEUES=32\n--- job.sh\n"));
}

TEST(ImproveText, SaysWhatToCheckOfAStepThatWasNotExpected)
{
    Improvement of;
    of.measured = true;
    of.predicted_step_s = 3.6;
    of.predicted_low_s = 3.0;
    of.predicted_high_s = 4.3;
    of.today.step_s = 5.4;
    EXPECT_THAT(improvement_text(of), HasSubstr("1.5 times the predicted one"));
    of.today.step_s = 4.2;
    EXPECT_THAT(improvement_text(of), Not(HasSubstr("Check first")));
}

}  // namespace
}  // namespace prismopt
