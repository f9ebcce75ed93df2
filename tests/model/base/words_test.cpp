#include "model/base/words.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(Words, LowerCaseChangesLettersOfAsciiOnly)
{
    EXPECT_EQ(lower_case("NCCL_AllReduce \xc3\x89"), "nccl_allreduce \xc3\x89");
}

TEST(Words, TrimmedKeepsBlanksWithin)
{
    EXPECT_EQ(trimmed("\t a b \r"), "a b");
    EXPECT_EQ(trimmed(" \t "), "");
    EXPECT_EQ(trimmed(""), "");
}

TEST(Words, WordsOfALineArePartedByAnyWhiteSpace)
{
    EXPECT_EQ(words_of("  #  Size\tLatency(us)\r"), (std::vector<std::string>{"#", "Size", "Latency(us)"}));
    EXPECT_TRUE(words_of(" ").empty());
}

TEST(Words, LetterWordsArePartedByAllElse)
{
    EXPECT_EQ(letter_words("DATA_PARALLEL-2 (with CP)"),
              (std::vector<std::string>{"data", "parallel", "with", "cp"}));
    EXPECT_TRUE(letter_words("12").empty());
}

}  // namespace
}  // namespace prismopt
