#include "model/plan/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace prismopt {
namespace {

ParallelPlan plan(int pp, int chunks, LayerSplit split)
{
    ParallelPlan p;
    p.pp = pp;
    p.chunks = chunks;
    p.split = split;
    return p;
}

/// Length of a chunk in the slots that the split counts.
int slots(const Chunk& chunk, LayerSplit split)
{
    return chunk.layers + (split == LayerSplit::slots ? int{chunk.embedding} + int{chunk.head} : 0);
}

TEST(Layout, HoldsEachLayerOnceAndInOrder)
{
    for (const LayerSplit split : {LayerSplit::layers, LayerSplit::slots}) {
        for (int layers = 1; layers <= 40; ++layers) {
            for (int pp = 1; pp <= 8; ++pp) {
                for (int v = 1; v <= 4; ++v) {
                    const auto result = layout(layers, plan(pp, v, split));
                    const int units = layers + (split == LayerSplit::slots ? 2 : 0);
                    ASSERT_EQ(std::holds_alternative<Infeasible>(result), units < pp * v)
                        << layers << " " << pp << " " << v;
                    if (units < pp * v) {
                        EXPECT_EQ(std::get<Infeasible>(result).reason(), Reason::layers_and_chunks);
                        continue;
                    }
                    const auto& chunks = std::get<std::vector<Chunk>>(result);
                    ASSERT_EQ(chunks.size(), static_cast<std::size_t>(pp * v));
                    int next = 0;
                    int shortest = units;
                    int longest = 0;
                    for (std::size_t k = 0; k < chunks.size(); ++k) {
                        EXPECT_EQ(chunks[k].first_layer, next);
                        EXPECT_EQ(chunks[k].embedding, k == 0);
                        EXPECT_EQ(chunks[k].head, k + 1 == chunks.size());
                        EXPECT_GE(chunks[k].layers, 0);
                        next += chunks[k].layers;
                        shortest = std::min(shortest, slots(chunks[k], split));
                        longest = std::max(longest, slots(chunks[k], split));
                    }
                    EXPECT_EQ(next, layers);
                    EXPECT_LE(longest - shortest, 1);
                    // The ends are not the longest; the first only when all but the last are.
                    if (longest > shortest) {
                        const auto longer = std::count_if(chunks.begin(), chunks.end(), [&](const Chunk& c) {
                            return slots(c, split) == longest;
                        });
                        EXPECT_LT(slots(chunks.back(), split), longest);
                        EXPECT_EQ(slots(chunks.front(), split) == longest, longer == pp * v - 1);
                    }
                }
            }
        }
    }
}

/// Llama 3, arXiv 2407.21783, section 3.3.2: 126 layers over 16 stages; one layer fewer on the first and the
/// last, so the first chunk has only the embedding and the last only the loss head.
TEST(Layout, OfLlama405bLeavesTheEndsWithoutLayers)
{
    const auto chunks = std::get<std::vector<Chunk>>(layout(126, plan(16, 8, LayerSplit::slots)));
    for (std::size_t k = 0; k < chunks.size(); ++k) {
        EXPECT_EQ(chunks[k].layers, k == 0 || k == 127 ? 0 : 1) << k;
    }
    const auto stages = std::get<std::vector<Chunk>>(layout(126, plan(16, 1, LayerSplit::slots)));
    for (std::size_t k = 0; k < stages.size(); ++k) {
        EXPECT_EQ(stages[k].layers, k == 0 || k == 15 ? 7 : 8) << k;
    }
}

TEST(Layout, NamesWhatDoesNotFit)
{
    const auto result = layout(10, plan(4, 3, LayerSplit::layers));
    EXPECT_EQ(std::get<Infeasible>(result).conflict, Conflict::slots_and_chunks);
    EXPECT_EQ(std::get<Infeasible>(result).facts, (Facts{{FactKey::slots, 10}, {FactKey::chunks, 12}}));
}

}  // namespace
}  // namespace prismopt
