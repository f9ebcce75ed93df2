#include "optimizer/loop/study_key.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

StudyKey asked()
{
    StudyKey key;
    key.name = "small";
    key.text = "name = \"small\"";
    key.seed = 1;
    key.strategy = "exact";
    key.max_evaluations = 0;
    return key;
}

std::string compared(const StudyKey& one, const StudyKey& other)
{
    return difference(one, other, {"in the journal", "here"});
}

TEST(StudyKey, DiffersByItsFirstDifference)
{
    EXPECT_EQ(compared(asked(), asked()), "");
    StudyKey other = asked();
    other.max_evaluations = 9;
    EXPECT_EQ(compared(asked(), other), "limit of evaluations (0 in the journal, 9 here)");
    other.strategy = "racing";
    EXPECT_EQ(compared(asked(), other), "strategy (exact in the journal, racing here)");
    other.held = {2};
    other.space_parts = 3;
    EXPECT_EQ(compared(asked(), other), "part of the space (1/1 in the journal, 2/3 here)");
    other.seed = 7;
    EXPECT_EQ(compared(asked(), other), "seed (1 in the journal, 7 here)");
    other.text = "name = \"small\"\nseed = 7\n";
    EXPECT_EQ(compared(asked(), other), "scenario in line 2 (\"\" in the journal, \"seed = 7\" here)");
    other.name = "large";
    EXPECT_EQ(compared(asked(), other), "scenario (\"small\" in the journal, \"large\" here)");
}

/// Lines are equal, and the texts are not.
TEST(StudyKey, OfTheSameLinesDiffersByTheEndOfTheText)
{
    StudyKey other = asked();
    other.text += '\n';
    EXPECT_EQ(compared(asked(), other), "scenario in line 2 (\"\" in the journal, \"\" here)");
}

/// Results hold the strategy that was chosen, and no limit of evaluations.
TEST(StudyKey, OfResultsHasWhatWasChosen)
{
    StudyKey results = asked();
    results.max_evaluations.reset();
    results.strategy = "racing";
    EXPECT_EQ(compared(asked(), results), "strategy (exact in the journal, racing here)");
    StudyKey automatic = asked();
    automatic.strategy = "auto";
    automatic.max_evaluations = 9;
    EXPECT_EQ(compared(automatic, results), "");
    EXPECT_EQ(compared(results, automatic), "");
}

}  // namespace
}  // namespace prismopt
