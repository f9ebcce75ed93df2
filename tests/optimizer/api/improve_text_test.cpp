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
    JobChange change{.files = {}, .diff = {}, .settings = {"v=10"}, .refused = {"it has no such schedule"}};
    EXPECT_THAT(job_changes_text(of, {change}), HasSubstr("Axes to change (it is not exported to the trainer "
                                                          "of the job: it has no such schedule):\n  v=10"));
    change.refused.clear();
    EXPECT_THAT(job_changes_text(of, {change}), Not(HasSubstr("exported")));
    EXPECT_THAT(job_changes_text(of, {change}), HasSubstr("Settings to change (no change of the files"));
}

}  // namespace
}  // namespace prismopt
