#include "search/near_bounds.hpp"

#include "search/archive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace prismopt {
namespace {

/// Three regions with more points near the best than are held, one with few; the second objective counts.
std::vector<NearBound> points(unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<NearBound> all;
    for (std::uint64_t index = 0; index < 20'000; ++index) {
        const std::uint64_t region = index % 100 == 0 ? 8 : index % 3;
        const double value = static_cast<double>(100 + random() % 100);  // equal ones are frequent
        all.push_back({region, {index, {0.0, static_cast<double>(region + 1) * value}}});
    }
    return all;
}

std::vector<std::uint64_t> indices(const std::vector<NearBound>& points)
{
    std::vector<std::uint64_t> indices;
    for (const NearBound& point : points) {
        indices.push_back(point.bound.index);
    }
    std::sort(indices.begin(), indices.end());
    return indices;
}

std::vector<std::uint64_t> by_brute_force(const std::vector<NearBound>& points)
{
    std::map<std::uint64_t, std::vector<std::pair<double, std::uint64_t>>> regions;
    for (const NearBound& point : points) {
        regions[point.region].emplace_back(point.bound.objectives[1], point.bound.index);
    }
    std::vector<std::uint64_t> held;
    for (auto& [region, members] : regions) {
        std::sort(members.begin(), members.end());
        members.resize(std::min(members.size(), most_near));
        for (const auto& [value, index] : members) {
            if (value <= (1.0 + near_best) * members.front().first) {
                held.push_back(index);
            }
        }
    }
    std::sort(held.begin(), held.end());
    return held;
}

TEST(NearBounds, HoldsTheBestOfEachRegion)
{
    std::vector<NearBound> all = points(1);
    const std::vector<std::uint64_t> expected = by_brute_force(all);
    std::vector<std::vector<std::uint64_t>> held;
    for (int order = 0; order < 3; ++order) {
        NearBounds near({.objective = 1});
        for (const NearBound& point : all) {
            near.add(point);
        }
        EXPECT_EQ(indices(near.best()), expected);
        std::shuffle(all.begin(), all.end(), std::mt19937(static_cast<unsigned>(order)));
    }
}

TEST(NearBounds, OfRangesMakeThoseOfTheWhole)
{
    const std::vector<NearBound> all = points(2);
    NearBounds whole({.objective = 1});
    for (std::size_t begin = 0; begin < all.size(); begin += 700) {
        NearBounds range({.objective = 1, .regions = {{0, 131.3}, {2, 390.0}}});
        for (std::size_t i = begin; i < std::min(all.size(), begin + 700); ++i) {
            range.add(all[i]);
        }
        for (const NearBound& point : range.best()) {
            whole.add(point);
        }
    }
    EXPECT_EQ(indices(whole.best()), by_brute_force(all));
}

/// An eighth of the points says within which limits about twice as many points are as
/// are held; these contain the best.
TEST(NearBounds, LimitsOfASampleContainTheBest)
{
    const std::vector<NearBound> all = points(3);
    NearBounds sample({.objective = 1});
    for (std::size_t i = 0; i < all.size(); i += 8) {
        sample.add(all[i]);
    }
    const std::vector<RegionLimit> limits = sample.limits(1.0 / 8.0);
    EXPECT_EQ(limits.size(), 4U);
    NearBounds near({.objective = 1, .regions = limits});
    std::map<std::uint64_t, std::size_t> admitted;
    for (const NearBound& point : all) {
        admitted[point.region] += near.admits(point.region, point.bound.objectives[1]) ? 1 : 0;
        near.add(point);
    }
    EXPECT_EQ(indices(near.best()), by_brute_force(all));
    for (const std::uint64_t region : {0, 1, 2}) {
        EXPECT_LT(admitted[region], 2 * (2 * most_near) / 1.5) << region;
    }
}

TEST(NearBounds, AdmitsWhatIsNearAKnownBest)
{
    NearBounds near({.objective = 0, .regions = std::vector<RegionLimit>{{7, 130.0}}});
    EXPECT_TRUE(near.admits(7, 129.9));
    EXPECT_FALSE(near.admits(7, 130.1));
    EXPECT_TRUE(near.admits(8, 1e9)) << "nothing is known of this region";
    near.add({7, {1, {90.0}}});
    EXPECT_FALSE(near.admits(7, 118.0));
}

TEST(NearBounds, AnArchiveListsThemOnceBesideOtherBounds)
{
    Archive archive;
    Sweep sweep;
    sweep.feasible = {{2, {10.0}}, {5, {11.0}}};
    sweep.near = {{1, {5, {11.5}}}, {1, {3, {12.0}}}};
    archive.add(std::vector<Answer>{sweep});
    EXPECT_EQ(archive.bounds().size(), 2U);
    std::map<std::uint64_t, double> all;
    for (const Bound& bound : archive.bounds_and_near()) {
        all[bound.index] = bound.objectives.front();
    }
    EXPECT_EQ(all, (std::map<std::uint64_t, double>{{2, 10.0}, {3, 12.0}, {5, 11.0}}));
}

}  // namespace
}  // namespace prismopt
