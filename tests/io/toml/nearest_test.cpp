#include "io/toml/nearest.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(Nearest, FindsSlips)
{
    const std::vector<std::string> names{"bandwidth", "latency", "h100-sxm", "tp"};
    EXPECT_EQ(nearest("bandwith", names), "bandwidth");
    EXPECT_EQ(nearest("bandwdith", names), "bandwidth");
    EXPECT_EQ(nearest("band-widhtt", names), "bandwidth");  // three edits in eleven characters
    EXPECT_EQ(nearest("latnecyxx", names), "latency");      // three in nine
    EXPECT_EQ(nearest("latnecyx", names), "latency");       // two in eight
    EXPECT_EQ(nearest("latnxyz", names), "");               // three in seven
    EXPECT_EQ(nearest("pt", {"pp", "tp"}), "pp");           // one edit either way: the first
    EXPECT_EQ(nearest("bandwidth", names), "bandwidth");
}

TEST(Nearest, FindsBeginnings)
{
    EXPECT_EQ(nearest("h100", {"a100-sxm", "h100-sxm"}), "h100-sxm");
    EXPECT_EQ(nearest("h1", {"a100-sxm", "h100-sxm"}), "");  // too little to tell
}

TEST(Nearest, FindsNothingInOtherWords)
{
    EXPECT_EQ(nearest("zz", {"tp", "pp"}), "");
    EXPECT_EQ(nearest("colour", {"bandwidth", "latency"}), "");
    EXPECT_EQ(nearest("", {"tp"}), "");
    EXPECT_EQ(nearest("tp", {}), "");
    EXPECT_EQ(nearest(std::string(1'000'000, 'x'), {"bandwidth"}), "");
}

TEST(Nearest, OneSlip)
{
    EXPECT_TRUE(one_slip("gpsu", "gpus"));
    EXPECT_TRUE(one_slip("gpu", "gpus"));
    EXPECT_TRUE(one_slip("gpuss", "gpus"));
    EXPECT_TRUE(one_slip("gpas", "gpus"));
    EXPECT_FALSE(one_slip("gpus", "gpus"));
    EXPECT_FALSE(one_slip("cap", "cv"));
    EXPECT_FALSE(one_slip("stage", "site"));
    EXPECT_FALSE(one_slip("a", "v"));
}

TEST(Nearest, Lists)
{
    EXPECT_EQ(listed({"a", "b"}), "a, b");
    EXPECT_EQ(listed({}), "");
}

}  // namespace
}  // namespace prismopt
