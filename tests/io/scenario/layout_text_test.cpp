#include "io/scenario/layout_text.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

std::vector<int> layers_of(std::string_view text)
{
    const auto parsed = parse_layout(text);
    std::vector<int> layers;
    if (const auto* chunks = std::get_if<std::vector<Chunk>>(&parsed)) {
        for (const Chunk& chunk : *chunks) {
            layers.push_back(chunk.layers);
        }
    }
    return layers;
}

/// The forms of Megatron Core's own documentation and tests, without multi-token prediction.
TEST(LayoutText, IsReadAsMegatronReadsIt)
{
    EXPECT_EQ(layers_of("Et*3|(tt|)*2,t|L"), (std::vector{3, 2, 2, 1, 0}));
    EXPECT_EQ(layers_of("Ettt|tt|L"), (std::vector{3, 2, 0}));
    EXPECT_EQ(layers_of("E|(t|t)*2|L"), (std::vector{0, 1, 2, 1, 0}));  // xy(ab|cd)*2 -> xyab|cdab|cd
    EXPECT_EQ(layers_of("Et*2(|t*3)*2|tL"), (std::vector{2, 3, 3, 1}));
    EXPECT_EQ(layers_of("EtL"), (std::vector{1}));
    const auto chunks = std::get<std::vector<Chunk>>(parse_layout("Et*3|tt|tL"));
    EXPECT_TRUE(chunks.front().embedding);
    EXPECT_FALSE(chunks[1].embedding || chunks[1].head);
    EXPECT_EQ(chunks[1].first_layer, 3);
    EXPECT_EQ(chunks.back().first_layer, 5);
    EXPECT_TRUE(chunks.back().head);
}

TEST(LayoutText, IsWrittenAsItIsRead)
{
    for (const char* text : {"Et*3|t*2|t|L", "E|t|tL", "Et*7|t*8|t*7L", "EtL"}) {
        EXPECT_EQ(layout_text(std::get<std::vector<Chunk>>(parse_layout(text))), text);
    }
}

/// The model holds modules on the stage of the loss head.
TEST(LayoutText, HasPredictionModulesBeforeTheLossHead)
{
    for (const char* text : {"Et*3|t*2|tmL", "Et*2|mL"}) {
        const auto chunks = parse_layout(text, 1);
        ASSERT_TRUE(std::holds_alternative<std::vector<Chunk>>(chunks)) << text;
        EXPECT_EQ(layout_text(std::get<std::vector<Chunk>>(chunks), 1), text);
    }
    const auto two = std::get<std::vector<Chunk>>(parse_layout("Et|tm*2L", 2));
    EXPECT_EQ(two.back().layers, 1);
    EXPECT_EQ(layout_text(two, 2), "Et|tm*2L");
    for (const char* text : {"Et|m|L", "Et|mtL", "Etm|tL"}) {
        EXPECT_EQ(std::get<std::string>(parse_layout(text, 1)),
                  "m must stand directly before L: the model holds prediction modules on the stage of the "
                  "loss head")
            << text;
    }
    EXPECT_EQ(std::get<std::string>(parse_layout("Et|tL", 1)),
              "it has 0 multi-token prediction modules (m), and the network has 1");
}

TEST(LayoutText, IsRefusedWithTheReason)
{
    const auto why = [](std::string_view text) { return std::get<std::string>(parse_layout(text)); };
    EXPECT_EQ(why("Etx|L"),
              "'x' is not one of its letters: E embedding, t layer, m multi-token prediction module, L loss "
              "head, | next chunk");
    EXPECT_EQ(why("Et||tL"), "chunk 1 of 3 has no layer");
    EXPECT_EQ(why("Et|t*|L"), "a * is not followed by a number");
    EXPECT_EQ(why("Et|((t|)*2)*2L"), "its parentheses do not match or are nested");
    EXPECT_EQ(why("Et|t)*2L"), "its parentheses do not match or are nested");
    EXPECT_EQ(why("E(t*9999)*9999L"), "it is too long");
    EXPECT_EQ(why("Et*99999999999999999999L"), "a * is not followed by a number");
    EXPECT_EQ(why("Ett|m|L"), "it has 1 multi-token prediction modules (m), and the network has 0");
    for (const char* text : {"", "tE|L", "Et|t", "EE|L", "Et|LL", "t|t"}) {
        EXPECT_EQ(why(text),
                  "it must begin with E, the embedding, and end with L, the loss head, each exactly once")
            << text;
    }
}

}  // namespace
}  // namespace prismopt
