#include "search/components/kept_bounds.hpp"

#include "search/archive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace prismopt {
namespace {

std::vector<Bound> many_bounds(unsigned seed, std::size_t count, std::size_t objectives)
{
    std::mt19937 random(seed);
    std::vector<Bound> bounds;
    for (std::uint64_t index = 0; index < count; ++index) {
        bounds.push_back({3 * index, {}});
        for (std::size_t k = 0; k < objectives; ++k) {
            bounds.back().objectives.push_back(static_cast<double>(random() % 50));
        }
    }
    return bounds;
}

Sweep sweep_of(const std::vector<Bound>& bounds, const SweepRange& range)
{
    KeptBounds kept(range);
    for (const Bound& bound : bounds) {
        kept.add(bound);
    }
    Sweep sweep;
    kept.move_to(sweep);
    return sweep;
}

TEST(KeptBounds, KeepsAllWhereThereIsRoom)
{
    const auto bounds = many_bounds(1, 200, 2);
    for (const std::uint64_t keep : {std::uint64_t{200}, SweepRange{}.keep}) {
        const Sweep sweep = sweep_of(bounds, {.begin = 0, .end = 600, .keep = keep});
        EXPECT_EQ(sweep.feasible.size(), 200U);
        EXPECT_EQ(sweep.unreturned, 0U);
        EXPECT_TRUE(sweep.floor.empty());
    }
}

TEST(KeptBounds, AFloorLiesBelowAllThatIsNotReturned)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        const auto bounds = many_bounds(seed, 500, 1 + seed % 4);
        const std::uint64_t keep = 1 + 13 * seed;
        const Sweep sweep = sweep_of(bounds, {.begin = 0, .end = 1500, .keep = keep});
        EXPECT_EQ(sweep.feasible.size(), keep);
        EXPECT_EQ(sweep.unreturned, 500 - keep);
        const auto by_index = [](const Bound& a, const Bound& b) { return a.index < b.index; };
        EXPECT_TRUE(std::is_sorted(sweep.feasible.begin(), sweep.feasible.end(), by_index));
        for (const Bound& bound : bounds) {
            if (std::binary_search(sweep.feasible.begin(), sweep.feasible.end(), bound, by_index)) {
                continue;
            }
            const auto below = [&](const auto& low) {
                return low == bound.objectives || dominates(low, bound.objectives);
            };
            EXPECT_TRUE(std::any_of(sweep.floor.begin(), sweep.floor.end(), below)) << "seed " << seed;
        }
    }
}

TEST(KeptBounds, TheFirstLayerStaysWhereItFits)
{
    const auto bounds = many_bounds(5, 400, 2);
    std::vector<std::vector<double>> values;
    for (const Bound& bound : bounds) {
        values.push_back(bound.objectives);
    }
    const auto layer = non_dominated(values);
    const Sweep sweep = sweep_of(bounds, {.begin = 0, .end = 1200, .keep = layer.size()});
    ASSERT_EQ(sweep.feasible.size(), layer.size());
    for (std::size_t i = 0; i < layer.size(); ++i) {
        EXPECT_EQ(sweep.feasible[i].index, bounds[layer[i]].index);
    }
}

TEST(KeptBounds, WhatALimitDominatesIsOnlyCounted)
{
    const auto bounds = many_bounds(6, 300, 2);
    const std::vector<double> limit{20.0, 30.0};
    const Sweep sweep = sweep_of(bounds, {.begin = 0, .end = 900, .limits = {limit}});
    EXPECT_EQ(sweep.excluded, std::count_if(bounds.begin(), bounds.end(), [&](const Bound& bound) {
                  return dominates(limit, bound.objectives);
              }));
    EXPECT_EQ(sweep.excluded + sweep.feasible.size(), 300U);
}

}  // namespace
}  // namespace prismopt
