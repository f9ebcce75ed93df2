#include "io/base/launcher_label.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(LauncherLabel, IsThatOfEachLauncher)
{
    EXPECT_EQ(launcher_label(" 0: # nThread 1"), " 0:");
    EXPECT_EQ(launcher_label("12: x"), "12:");
    EXPECT_EQ(launcher_label("[rank3]: x"), "[rank3]:");
    EXPECT_EQ(launcher_label("[default0]:x"), "[default0]:");
    EXPECT_EQ(launcher_label("[1,0]<stdout>: x"), "[1,0]<stdout>:");
    EXPECT_EQ(launcher_label("[1,17]<stderr>:x"), "[1,17]<stderr>:");
    EXPECT_EQ(launcher_label("[prterun-node1-4711@1,3]<stdout>: x"), "[prterun-node1-4711@1,3]<stdout>:");
    for (const char* none : {"", "x", "8388608 131072 float", "12:30:05 x", "[1,0] x", "[rank]: x",
                             "[Tue Mar 5]", "[[1,2]]", "[", "0", ":"}) {
        EXPECT_EQ(launcher_label(none), "") << none;
    }
}

}  // namespace
}  // namespace prismopt
