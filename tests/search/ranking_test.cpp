#include "search/ranking.hpp"

#include "search/archive.hpp"
#include "search/search_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace prismopt {
namespace {

std::vector<Values> lattice(std::uint32_t choice, std::size_t points, std::size_t objectives)
{
    SearchRandom random(1, choice);
    std::vector<Values> values(points);
    for (Values& point : values) {
        for (std::size_t k = 0; k < objectives; ++k) {
            point.push_back(static_cast<double>(random.below(6)));
        }
    }
    return values;
}

TEST(Ranking, LayersAreWhatPeelingGives)
{
    for (std::size_t objectives = 1; objectives <= 5; ++objectives) {
        const std::vector<Values> points = lattice(static_cast<std::uint32_t>(objectives), 200, objectives);
        const std::vector<std::size_t> layer = layers(points);
        std::set<std::size_t> left;
        for (std::size_t i = 0; i < points.size(); ++i) {
            left.insert(i);
        }
        for (std::size_t depth = 0; !left.empty(); ++depth) {
            std::vector<std::size_t> peeled;
            for (const std::size_t i : left) {
                if (std::none_of(left.begin(), left.end(),
                                 [&](std::size_t j) { return dominates(points[j], points[i]); })) {
                    peeled.push_back(i);
                }
            }
            for (const std::size_t i : peeled) {
                EXPECT_EQ(layer[i], depth) << objectives << " objectives, point " << i;
                left.erase(i);
            }
        }
    }
}

TEST(Ranking, CrowdingIsTheSideOfTheBoxToTheNeighbours)
{
    const std::vector<Values> line{{0.0, 10.0}, {1.0, 6.0}, {4.0, 5.0}, {10.0, 0.0}};
    const std::vector<double> lonely = crowding(line);
    EXPECT_EQ(lonely[0], std::numeric_limits<double>::infinity());
    EXPECT_DOUBLE_EQ(lonely[1], 4.0 / 10.0 + 5.0 / 10.0);
    EXPECT_DOUBLE_EQ(lonely[2], 9.0 / 10.0 + 6.0 / 10.0);
    EXPECT_EQ(lonely[3], std::numeric_limits<double>::infinity());
}

TEST(Ranking, DirectionsAreTheLatticeOfDasAndDennis)
{
    EXPECT_EQ(reference_directions(3, 91).size(), 91U);  // 12 divisions, table I of Deb and Jain
    EXPECT_EQ(reference_directions(3, 96).size(), 91U);
    EXPECT_EQ(reference_directions(5, 210).size(), 210U);  // 6 divisions
    EXPECT_EQ(reference_directions(1, 50).size(), 1U);
    for (const Values& direction : reference_directions(4, 100)) {
        EXPECT_NEAR(std::accumulate(direction.begin(), direction.end(), 0.0), 1.0, 1e-12);
    }
}

TEST(Ranking, NichesKeepWholeLayersAndThenSpread)
{
    // A front of two ends and a crowd in one corner; a second layer behind.
    std::vector<Values> points{{0.0, 1.0}, {1.0, 0.0}, {0.5, 0.5}};
    for (int i = 0; i < 5; ++i) {
        points.push_back({0.001 * (i + 1), 0.99 - 0.002 * i});
    }
    points.push_back({2.0, 2.0});
    const auto kept = survivors_by_niche(points, reference_directions(2, 3), 3);
    EXPECT_EQ(std::set<std::size_t>(kept.begin(), kept.end()), (std::set<std::size_t>{0, 1, 2}));
    EXPECT_EQ(survivors_by_niche(points, reference_directions(2, 3), 20).size(), points.size());
}

}  // namespace
}  // namespace prismopt
