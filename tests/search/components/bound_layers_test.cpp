#include "search/components/bound_layers.hpp"

#include "search/archive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace prismopt {
namespace {

using Bounds = std::map<std::uint64_t, std::vector<double>>;  // by index

Bounds random_bounds(std::mt19937& random, std::size_t objectives)
{
    Bounds bounds;
    for (std::uint64_t index = 0; index < 150; ++index) {
        for (std::size_t k = 0; k < objectives; ++k) {
            bounds[3 * index].push_back(static_cast<double>(random() % 8));
        }
    }
    return bounds;
}

BoundLayers layers_of(const Bounds& bounds, std::size_t objectives)
{
    BoundLayers layers(objectives);
    for (const auto& entry : bounds) {
        layers.add(entry.first, entry.second);
    }
    layers.put_in_order();
    return layers;
}

std::vector<std::uint64_t> next_places(BoundLayers& layers, std::size_t most, const Limits& limits)
{
    std::vector<std::uint64_t> indices;
    for (const std::size_t place : layers.next_places(most, limits)) {
        indices.push_back(layers.index(place));
    }
    return indices;
}

/// The indices that no other of `bounds` dominates, taken out of `bounds`.
std::vector<std::uint64_t> brute_layer(Bounds& bounds)
{
    std::vector<std::uint64_t> layer;
    for (const auto& entry : bounds) {
        const auto better = [&](const auto& other) { return dominates(other.second, entry.second); };
        if (std::none_of(bounds.begin(), bounds.end(), better)) {
            layer.push_back(entry.first);
        }
    }
    for (const std::uint64_t index : layer) {
        bounds.erase(index);
    }
    return layer;
}

TEST(BoundLayers, PeelWhatBruteForcePeels)
{
    std::mt19937 random(2);
    for (std::size_t objectives = 1; objectives <= 5; ++objectives) {
        Bounds bounds = random_bounds(random, objectives);
        BoundLayers layers = layers_of(bounds, objectives);
        while (!bounds.empty()) {
            EXPECT_EQ(next_places(layers, 1000, {}), brute_layer(bounds)) << objectives << " objectives";
        }
        EXPECT_TRUE(next_places(layers, 1000, {}).empty());
        EXPECT_EQ(layers.excluded(), 0U);
    }
}

TEST(BoundLayers, DropWhatLimitsDominate)
{
    std::mt19937 random(4);
    for (std::size_t objectives = 1; objectives <= 5; ++objectives) {
        const Bounds bounds = random_bounds(random, objectives);
        BoundLayers layers = layers_of(bounds, objectives);
        Limits limits;
        std::vector<std::vector<double>> highs;
        std::size_t handed_out = 0;
        while (true) {
            // A limit of nobody here, on the grid of the bounds so that ties occur.
            std::vector<double> high(objectives);
            for (double& value : high) {
                value = static_cast<double>(2 + random() % 6);
            }
            limits.add(bounds.size(), high);
            highs.push_back(high);
            const auto taken = next_places(layers, 5, limits);
            if (taken.empty()) {
                break;
            }
            EXPECT_LE(taken.size(), 5U);
            handed_out += taken.size();
            for (const std::uint64_t index : taken) {
                for (const auto& limit : highs) {
                    EXPECT_FALSE(dominates(limit, bounds.at(index)));
                }
            }
        }
        EXPECT_EQ(handed_out + layers.excluded(), bounds.size());
        std::size_t spared = 0;
        for (const auto& entry : bounds) {
            const auto excludes = [&](const auto& high) { return dominates(high, entry.second); };
            spared += std::none_of(highs.begin(), highs.end(), excludes) ? 1 : 0;
        }
        EXPECT_GE(handed_out, spared) << objectives << " objectives";
        EXPECT_GT(layers.excluded(), 0U) << objectives << " objectives";
    }
}

/// Tighter bounds count from then on, and what was looked at without one is excluded.
TEST(BoundLayers, AcceptTighterBounds)
{
    std::mt19937 random(6);
    for (std::size_t objectives = 1; objectives <= 5; ++objectives) {
        Bounds bounds = random_bounds(random, objectives);
        BoundLayers layers = layers_of(bounds, objectives);
        EXPECT_EQ(layers.remaining().size(), bounds.size());
        std::vector<std::uint64_t> looked_at;
        std::vector<Bound> tighter;
        for (const std::size_t place : layers.remaining()) {
            if (random() % 2 == 0) {
                looked_at.push_back(layers.index(place));
            }
        }
        std::sort(looked_at.begin(), looked_at.end());
        std::size_t excluded = 0;
        for (const std::uint64_t index : looked_at) {
            if (random() % 3 == 0) {
                bounds.erase(index);
                ++excluded;
                continue;
            }
            for (double& value : bounds.at(index)) {
                value += static_cast<double>(random() % 3);
            }
            tighter.push_back({index, bounds.at(index)});
        }
        layers.tighten(looked_at, tighter);
        EXPECT_EQ(layers.excluded(), excluded);
        EXPECT_EQ(layers.remaining().size(), bounds.size());
        while (!bounds.empty()) {
            EXPECT_EQ(next_places(layers, 1000, {}), brute_layer(bounds)) << objectives << " objectives";
        }
        EXPECT_TRUE(next_places(layers, 1000, {}).empty());
    }
}

}  // namespace
}  // namespace prismopt
