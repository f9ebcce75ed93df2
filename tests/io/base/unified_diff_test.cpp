#include "io/base/unified_diff.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(UnifiedDiff, HasThreeLinesAroundEachChange)
{
    EXPECT_EQ(unified_diff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf\n", "x", "y"),
              "--- x\n+++ y\n@@ -2,5 +2,5 @@\n b\n c\n d\n-e\n+E\n f\n");
}

TEST(UnifiedDiff, SeparatesDistantChanges)
{
    std::string before = "first\n";
    for (int i = 0; i < 10; ++i) {
        before += "line\n";
    }
    const std::string diff = unified_diff(before + "last\n", before.substr(6) + "last\nmore\n", "x", "x");
    EXPECT_EQ(diff,
              "--- x\n+++ x\n@@ -1,4 +1,3 @@\n-first\n line\n line\n line\n@@ -10,3 +9,4 @@\n line\n line\n "
              "last\n+more\n");
}

TEST(UnifiedDiff, MarksALineWithoutItsEnd)
{
    EXPECT_EQ(unified_diff("a", "b", "x", "x"),
              "--- x\n+++ x\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of "
              "file\n");
    EXPECT_EQ(unified_diff("a\n", "a\n", "x", "x"), "");
}

}  // namespace
}  // namespace prismopt
