#include "io/words/rejected_text.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

Infeasible memory()
{
    return {.conflict = Conflict::stage_over_memory,
            .facts = {{FactKey::stage, 0},
                      {FactKey::need_bytes, 81.5e9},
                      {FactKey::usable_bytes, 80e9},
                      {FactKey::component, std::string("optimizer")},
                      {FactKey::component_bytes, 40e9}},
            .miss = 1.5e9};
}

TEST(RejectedText, GivesBackTheFacts)
{
    const Rejected rejected{.reason = "out of memory",
                            .count = 3,
                            .miss = 1.5e9,
                            .nearest = facts_json({memory(), "gpus=16 tp=8"})};
    EXPECT_EQ(rejected.nearest,
              R"({"conflict":"stage_over_memory","plan":"gpus=16 tp=8","facts":[["stage",0],)"
              R"(["need_bytes",81500000000.0],["usable_bytes",80000000000.0],["part","optimizer"],)"
              R"(["part_bytes",40000000000.0]]})");
    const auto miss = nearest_miss(rejected);
    ASSERT_TRUE(miss);
    EXPECT_EQ(miss->why.conflict, memory().conflict);
    EXPECT_EQ(miss->why.facts, memory().facts);
    EXPECT_EQ(miss->why.miss, 1.5e9);
    EXPECT_EQ(miss->plan, "gpus=16 tp=8");
    EXPECT_EQ(
        nearest_text(rejected),
        "stage 0 needs 81.5 GB, but 80.0 GB are usable; largest part: optimizer, 40.0 GB (gpus=16 tp=8)");
}

/// Sentences of older files, facts of newer versions, and damaged ones: none of them has facts.
TEST(RejectedText, KeepsWhatHasNoFacts)
{
    for (const char* text : {"", "stage 0 needs 81.5 GB, 80.0 GB present", "{", "{}",
                             R"({"conflict":"of_the_future","plan":"tp=8","facts":[]})",
                             R"({"conflict":"tp_and_nodes","plan":"tp=8","facts":[]})",
                             R"({"conflict":"tp_and_nodes","plan":"tp=8","facts":[["tp","many"]]})",
                             R"({"conflict":"tp_and_nodes","plan":"tp=8","facts":[["tp"]]})",
                             R"({"conflict":"no_checkpoints","plan":"\u001b[2J","facts":[]})"}) {
        const Rejected rejected{.reason = "a reason", .count = 1, .miss = 0.0, .nearest = text};
        EXPECT_FALSE(nearest_miss(rejected)) << text;
        EXPECT_EQ(nearest_text(rejected), text);
    }
}

}  // namespace
}  // namespace prismopt
