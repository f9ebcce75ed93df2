#include "search/archive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Points = std::vector<std::vector<double>>;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Whole numbers below `range`, so that ties and duplicates occur and volumes can be counted in unit cells.
Points random_points(std::mt19937& random, std::size_t count, std::size_t objectives, unsigned range)
{
    Points points(count, std::vector<double>(objectives));
    for (auto& point : points) {
        for (double& value : point) {
            value = static_cast<double>(random() % range);
        }
    }
    return points;
}

std::vector<std::size_t> brute_non_dominated(const Points& points)
{
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
        bool beaten = false;
        for (const auto& other : points) {
            bool no_worse = true;
            for (std::size_t k = 0; k < other.size(); ++k) {
                no_worse = no_worse && other[k] <= points[i][k];
            }
            beaten = beaten || (no_worse && other != points[i]);
        }
        if (!beaten) {
            kept.push_back(i);
        }
    }
    return kept;
}

/// Counts the unit cells of [0, side)^objectives whose lower corner is dominated or equalled by a point.
double brute_volume(const Points& points, std::size_t objectives, unsigned side)
{
    double cells = 0.0;
    std::uint64_t total = 1;
    for (std::size_t k = 0; k < objectives; ++k) {
        total *= side;
    }
    for (std::uint64_t cell = 0; cell < total; ++cell) {
        bool covered = false;
        for (const auto& point : points) {
            bool below = true;
            std::uint64_t rest = cell;
            for (std::size_t k = 0; k < objectives; ++k) {
                below = below && point[k] <= static_cast<double>(rest % side);
                rest /= side;
            }
            covered = covered || below;
        }
        cells += covered ? 1.0 : 0.0;
    }
    return cells;
}

Evaluation evaluation(std::uint64_t index, int rung, std::uint64_t draws, const std::vector<double>& values)
{
    Evaluation evaluation{.index = index, .rung = rung, .draws = draws, .objectives = {}};
    for (const double value : values) {
        evaluation.objectives.push_back(Estimate::exact(value));
    }
    return evaluation;
}

TEST(Dominates, NeedsOneStrictImprovementAndNoLoss)
{
    EXPECT_TRUE(dominates(std::vector{1.0, 2.0}, std::vector{1.0, 3.0}));
    EXPECT_FALSE(dominates(std::vector{1.0, 2.0}, std::vector{1.0, 2.0}));
    EXPECT_FALSE(dominates(std::vector{1.0, 2.0}, std::vector{0.0, 3.0}));
    EXPECT_TRUE(dominates(std::vector{1.0, 2.0}, std::vector{1.0, infinity}));
}

TEST(NonDominated, AgreesWithBruteForce)
{
    std::mt19937 random(11);
    for (std::size_t objectives = 1; objectives <= 5; ++objectives) {
        for (unsigned trial = 0; trial < 60; ++trial) {
            const unsigned range = trial % 2 == 0 ? 6 : 1000;
            const Points points = random_points(random, random() % 120, objectives, range);
            EXPECT_EQ(non_dominated(points), brute_non_dominated(points))
                << objectives << " objectives, trial " << trial;
        }
    }
}

TEST(NonDominated, KeepsDuplicatesAndInfiniteTies)
{
    EXPECT_THAT(non_dominated(Points{{2, 1}, {1, 2}, {2, 1}, {2, 2}}), ElementsAre(0, 1, 2));
    EXPECT_THAT(non_dominated(Points{{-infinity, 2}, {-infinity, 1}, {0, 0}}), ElementsAre(1, 2));
    EXPECT_THAT(non_dominated(Points{}), IsEmpty());
}

TEST(Hypervolume, KnownAnswers)
{
    EXPECT_DOUBLE_EQ(hypervolume(Points{{3}, {5}}, std::vector{10.0}), 7.0);
    EXPECT_DOUBLE_EQ(hypervolume(Points{{1, 3}, {2, 2}, {3, 1}}, std::vector{4.0, 4.0}), 6.0);
    EXPECT_DOUBLE_EQ(hypervolume(Points{{0, 0, 0}}, std::vector{2.0, 3.0, 4.0}), 24.0);
    EXPECT_DOUBLE_EQ(hypervolume(Points{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, std::vector{2.0, 2.0, 2.0}), 7.0);
    EXPECT_EQ(hypervolume(Points{}, std::vector{1.0, 1.0}), 0.0);
}

TEST(Hypervolume, IgnoresPointsThatAreNotBelowTheReference)
{
    const Points points = {{1, 1}, {0, 9}, {4, 0}};
    EXPECT_DOUBLE_EQ(hypervolume(points, std::vector{4.0, 4.0}), 9.0);
}

TEST(Hypervolume, AgreesWithCountedCells)
{
    std::mt19937 random(5);
    for (std::size_t objectives = 1; objectives <= 5; ++objectives) {
        for (unsigned trial = 0; trial < 12; ++trial) {
            const Points points = random_points(random, 1 + random() % 20, objectives, 7);
            const std::vector<double> reference(objectives, 6.0);  // some points lie on it and add nothing
            EXPECT_DOUBLE_EQ(hypervolume(points, reference), brute_volume(points, objectives, 6))
                << objectives << " objectives, trial " << trial;
        }
    }
}

TEST(IdealPoint, HasTheLeastValueOfEachObjective)
{
    EXPECT_THAT(ideal_point(Points{{3, 5, 1}, {2, 7, 1}, {4, 6, 9}}), ElementsAre(2, 5, 1));
}

/// Incumbents count by their draws for limits until they are evaluated; scouts do not count.
TEST(Archive, HasAProvisionalFrontBeforePointsAreEvaluated)
{
    Archive archive;
    const auto drawn = [](Evaluation evaluation, DrawSource source) {
        evaluation.source = source;
        return Answer{evaluation};
    };
    archive.add(std::vector{drawn(evaluation(7, 1, 100, {0, 0}), {Purpose::scout})});
    EXPECT_THAT(archive.provisional_front(), testing::IsEmpty());
    archive.add(std::vector{drawn(evaluation(3, 2, 100, {1, 5}), {Purpose::limits, 1}),
                            drawn(evaluation(5, 2, 100, {5, 1}), {Purpose::limits, 1}),
                            drawn(evaluation(9, 2, 100, {6, 6}), {Purpose::limits, 1})});
    EXPECT_THAT(archive.provisional_front(), ElementsAre(3, 5));
    EXPECT_THAT(archive.front(), testing::IsEmpty());
    EXPECT_EQ(archive.draws(), 0U);
    archive.add(std::vector{drawn(evaluation(3, 1, 100, {7, 7}), {})});
    EXPECT_THAT(archive.provisional_front(), ElementsAre(5));
    EXPECT_THAT(archive.front(), ElementsAre(3));
}

TEST(Archive, KeepsTheHighestRungOfEachPoint)
{
    Archive archive;
    archive.add(std::vector<Answer>{evaluation(7, 1, 100, {1, 5}), evaluation(3, 1, 100, {2, 2}),
                                    evaluation(9, 1, 100, {3, 3})});
    EXPECT_THAT(archive.front(), ElementsAre(3, 7));
    EXPECT_EQ(archive.draws(), 300U);
    archive.add(std::vector<Answer>{evaluation(3, 2, 1000, {4, 4})});
    archive.add(std::vector<Answer>{evaluation(3, 1, 100, {0, 0})});
    EXPECT_THAT(archive.front(), ElementsAre(7, 9));
    EXPECT_EQ(archive.evaluations().at(3).rung, 2);
    EXPECT_EQ(archive.draws(), 1200U);
}

TEST(Archive, MergesSweepsInIndexOrder)
{
    const auto rejected = [](const std::string& reason, std::uint64_t count, double miss,
                             const std::string& nearest) {
        return Rejected{reason, count, miss, nearest};
    };
    const Sweep late{.range = {10, 20},
                     .feasible = {{12, {1.0}}, {15, {2.0}}},
                     .rejected = {rejected("memory", 0, 0.0, "")}};
    const Sweep early{.range = {0, 10},
                      .feasible = {{4, {3.0}}},
                      .rejected = {rejected("gpus", 2, 1.0, "8 gpus"),
                                   rejected("memory", 5, 3.0, "3 GB over")}};
    const Sweep last{.range = {20, 30},
                     .feasible = {{21, {4.0}}},
                     .rejected = {rejected("memory", 4, 2.0, "2 GB over"),
                                  rejected("gpus", 1, 1.5, "16 gpus")}};
    Archive archive;
    archive.add(std::vector<Answer>{late, early});
    archive.add(std::vector<Answer>{last});

    std::vector<std::uint64_t> indices;
    for (const Bound& bound : archive.bounds()) {
        indices.push_back(bound.index);
    }
    EXPECT_THAT(indices, ElementsAre(4, 12, 15, 21));
    EXPECT_EQ(archive.feasible(), 4U);

    ASSERT_EQ(archive.rejected().size(), 2U);
    EXPECT_EQ(archive.rejected()[0].reason, "memory");
    EXPECT_EQ(archive.rejected()[0].count, 9U);
    EXPECT_EQ(archive.rejected()[0].nearest, "2 GB over");
    EXPECT_EQ(archive.rejected()[1].count, 3U);
    EXPECT_EQ(archive.rejected()[1].miss, 1.0);
    EXPECT_EQ(archive.rejected()[1].nearest, "8 gpus");
}

/// A point that was explored alone first, and one that an uncounted sweep returned.
TEST(Archive, KeepsTheNewestBoundOfEachPoint)
{
    const Sweep explored{
        .range = {.begin = 4, .end = 5, .again = true}, .feasible = {{4, {1.0}}}, .rejected = {}};
    const Sweep better{.range = {.begin = 0, .end = 10, .again = true},
                       .feasible = {{3, {2.0}}, {4, {1.5}}},
                       .rejected = {}};
    const Sweep front{.range = {.begin = 0, .end = 10}, .feasible = {{2, {5.0}}, {4, {3.0}}}, .rejected = {}};
    Archive archive;
    archive.add(std::vector<Answer>{explored, better});
    EXPECT_EQ(archive.feasible(), 0U);
    archive.add(std::vector<Answer>{front});
    EXPECT_EQ(archive.feasible(), 2U);
    std::vector<std::pair<std::uint64_t, double>> bounds;
    for (const Bound& bound : archive.bounds()) {
        bounds.emplace_back(bound.index, bound.objectives.front());
    }
    EXPECT_THAT(bounds, ElementsAre(std::pair(2, 5.0), std::pair(3, 2.0), std::pair(4, 3.0)));
}

}  // namespace
}  // namespace prismopt
