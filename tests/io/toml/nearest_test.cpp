#include "io/toml/nearest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

const std::vector<std::string> cards{"a10",  "a100-pcie-80gb", "a100-sxm-40gb", "a100-sxm-80gb",
                                     "a10g", "h100-nvl",       "h100-sxm",      "h20",
                                     "l4",   "l40s",           "rtx-4090",      "rtx-pro-6000"};
const std::vector<std::string> networks{"deepseek-v3", "llama3-405b", "llama3-70b",
                                        "llama3-8b",   "qwen2.5-7b",  "qwen3-8b"};

/// Case and separators do not count, and beginnings come before spelling.
TEST(Nearest, FindsNamesAsPeopleWriteThem)
{
    EXPECT_THAT(nearest_names("h100", cards), ElementsAre("h100-nvl", "h100-sxm"));
    EXPECT_THAT(nearest_names("H100-SXM", cards), ElementsAre("h100-sxm"));
    EXPECT_THAT(nearest_names("rtx4090", cards), ElementsAre("rtx-4090"));
    EXPECT_THAT(nearest_names("4090", cards), ElementsAre("rtx-4090"));
    EXPECT_THAT(nearest_names("NVIDIA GeForce RTX 4090", cards), ElementsAre("rtx-4090"));
    EXPECT_THAT(nearest_names("A100-80GB", cards), ElementsAre("a100-pcie-80gb", "a100-sxm-80gb"));
    EXPECT_THAT(nearest_names("NVIDIA A100-SXM4-80GB", cards), ElementsAre("a100-sxm-80gb"));
    EXPECT_THAT(nearest_names("NVIDIA H100 80GB HBM3", cards), ElementsAre("h100-nvl", "h100-sxm"));
    EXPECT_THAT(nearest_names("NVIDIA L4", cards), ElementsAre("l4"));
    EXPECT_THAT(nearest_names("A10", cards), ElementsAre("a10"));
    EXPECT_THAT(nearest_names("h100-smx", cards), ElementsAre("h100-sxm"));
    EXPECT_THAT(nearest_names("a100-smx-40gb", {"a100-sxm-40gb", "a40"}), ElementsAre("a100-sxm-40gb"));
    EXPECT_THAT(nearest_names("meta-llama/Llama-3.1-70B", networks), ElementsAre("llama3-70b"));
    EXPECT_THAT(nearest_names("Qwen/Qwen2.5-7B-Instruct", networks), ElementsAre("qwen2.5-7b"));
    EXPECT_THAT(nearest_names("abacus", cards), IsEmpty());
}

TEST(Nearest, SameNames)
{
    EXPECT_TRUE(same_name("RTX 4090", "rtx-4090"));
    EXPECT_FALSE(same_name("rtx-4090", "rtx-4090-d"));
    EXPECT_FALSE(same_name("-", "_"));
}

TEST(Nearest, AsksWhatWasMeant)
{
    EXPECT_EQ(did_you_mean("h100", cards), "did you mean \"h100-nvl\" or \"h100-sxm\"?");
    EXPECT_EQ(did_you_mean("a", {"a-b", "a-c", "a"}), "did you mean \"a\"?");
    EXPECT_EQ(did_you_mean("abc", {"abc-1", "abc-2", "abc-3"}),
              "did you mean \"abc-1\", \"abc-2\" or \"abc-3\"?");
    EXPECT_EQ(guess_of("bandwith", {"bandwidth"}), " (did you mean 'bandwidth'?)");
    EXPECT_EQ(guess_of("colour", {"bandwidth"}), "");
}

TEST(Nearest, FindsBeginnings)
{
    EXPECT_EQ(nearest("h100", {"a100-sxm", "h100-sxm"}), "h100-sxm");
    EXPECT_EQ(nearest("h1", {"a100-sxm", "h100-sxm"}), "");  // too short to choose
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
