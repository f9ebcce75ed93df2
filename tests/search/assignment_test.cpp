#include "search/assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

namespace prismopt {
namespace {

/// Factors of kinds 0, 1, 2; blocks are replicas of stages with unequal work, of which the slowest counts.
constexpr std::array factor{1.0, 1.1, 1.5};
constexpr std::array work{3.0, 2.0, 2.5, 1.0};

double slowest_block(const Assignment& assignment)
{
    double slowest = 0.0;
    for (std::size_t first = 0; first < assignment.size(); first += work.size()) {
        double sum = 0.0;
        double longest = 0.0;
        for (std::size_t s = 0; s < work.size(); ++s) {
            const double time = work[s] * factor[assignment[first + s]];
            sum += time;
            longest = std::max(longest, time);
        }
        slowest = std::max(slowest, sum + 7.0 * longest);
    }
    return slowest;
}

AssignmentProblem problem(int blocks, std::vector<int> stock)
{
    return {blocks * 4, 4, std::move(stock), [](std::span<const Assignment> list) {
                std::vector<double> figures;
                for (const Assignment& s : list) {
                    figures.push_back(slowest_block(s));
                }
                return figures;
            }};
}

/// Every permutation of the things, the first ones on the positions.
double least_by_brute_force(const AssignmentProblem& p)
{
    Assignment things;
    for (std::size_t kind = 0; kind < p.stock.size(); ++kind) {
        things.insert(things.end(), p.stock[kind], static_cast<int>(kind));
    }
    double least = 1e9;
    do {
        least = std::min(least, slowest_block({things.begin(), things.begin() + p.positions}));
    } while (std::next_permutation(things.begin(), things.end()));
    return least;
}

/// 2 blocks of 4: without blocks 8! / (5! 2! 1!) = 168 ways; all but those of equal blocks (none:
/// one thing is single) occur twice.
TEST(Assignment, ListsEachWayOnce)
{
    const auto all = all_assignments(problem(2, {5, 2, 1}), 1000);
    EXPECT_EQ(all.size(), 84U);
    std::set<std::multiset<Assignment>> blocks;
    for (const Assignment& s : all) {
        blocks.insert({Assignment(s.begin(), s.begin() + 4), Assignment(s.begin() + 4, s.end())});
    }
    EXPECT_EQ(blocks.size(), all.size());
    EXPECT_TRUE(all_assignments(problem(2, {5, 2, 1}), 83).empty());
    // 4 positions of 8 things, by counts of kinds.
    EXPECT_EQ(all_assignments(problem(1, {5, 2, 1}), 1000).size(), 1U + 4 + 4 + 6 + 12 + 12);
}

/// 68 things that all differ on 8 blocks of 8: too many ways, which is known at once.
TEST(Assignment, ManyWaysAreNotListed)
{
    AssignmentProblem p = problem(16, std::vector<int>(68, 1));
    p.block = 8;
    EXPECT_TRUE(all_assignments(p, 2000).empty());
}

TEST(Assignment, ExactIsBruteForce)
{
    for (const auto& stock : {std::vector{5, 2, 1}, {4, 3, 2}, {6, 1, 2}, {3, 3, 3}}) {
        const AssignmentProblem p = problem(2, stock);
        const AssignmentResult result = best_assignment(p, {}, {});
        EXPECT_TRUE(result.exact);
        EXPECT_DOUBLE_EQ(result.least, least_by_brute_force(p));
        EXPECT_DOUBLE_EQ(result.least, slowest_block(result.best));
        EXPECT_GE(result.most, result.least);
    }
}

/// Moves reach the least that all ways have, from the worst of them.
TEST(Assignment, MovesFindWhatIsLeast)
{
    for (const auto& stock : {std::vector{9, 2, 1}, {9, 3, 1}, {8, 2, 2}}) {
        const AssignmentProblem p = problem(3, stock);
        const AssignmentResult exact = best_assignment(p, {}, {.most_exact = 100'000});
        ASSERT_TRUE(exact.exact);
        const AssignmentResult moved = best_assignment(p, std::span(&exact.worst, 1), {.most_exact = 0});
        EXPECT_FALSE(moved.exact);
        EXPECT_DOUBLE_EQ(moved.least, exact.least);
    }
}

/// Every assignment that differs by one move, by trying all pairs and all of the stock.
std::set<Assignment> one_move_away(const std::vector<int>& stock, const Assignment& assignment)
{
    std::set<Assignment> all;
    for (std::size_t a = 0; a < assignment.size(); ++a) {
        for (std::size_t b = 0; b < assignment.size(); ++b) {
            Assignment moved = assignment;
            std::swap(moved[a], moved[b]);
            all.insert(moved);
        }
        for (int kind = 0; kind < static_cast<int>(stock.size()); ++kind) {
            Assignment moved = assignment;
            moved[a] = kind;
            if (std::count(moved.begin(), moved.end(), kind) <= stock[kind]) {
                all.insert(moved);
            }
        }
    }
    all.erase(assignment);
    return all;
}

TEST(AssignmentMoves, AreEachOfThemOnce)
{
    const Assignment assignment{0, 2, 1, 0, 3, 0, 2};
    for (const auto& stock :
         {std::vector{3, 1, 2, 1, 0}, {5, 1, 2, 1, 0}, {3, 2, 3, 1, 2}, {9, 9, 9, 9, 9}}) {
        const AssignmentMoves moves(stock, assignment);
        std::set<Assignment> made;
        for (std::uint64_t i = 0; i < moves.count(); ++i) {
            Assignment moved = assignment;
            make_move(moved, moves.at(i));
            EXPECT_TRUE(made.insert(moved).second) << i;
        }
        EXPECT_EQ(made, one_move_away(stock, assignment));
    }
    EXPECT_EQ(AssignmentMoves({4}, {0, 0, 0}).count(), 0U);
}

/// 2,048 nodes that all differ have 2048 * 2047 / 2 swaps: kept one by one as
/// assignments they would take 17 GB.
TEST(AssignmentMoves, ManyAreCountedNotMade)
{
    constexpr int positions = 2048;
    Assignment assignment(positions);
    std::iota(assignment.begin(), assignment.end(), 0);
    const std::vector<int> stock(positions, 1);
    const AssignmentMoves moves(stock, assignment);
    EXPECT_EQ(moves.count(), 2048U * 2047U / 2);
    Assignment moved = assignment;
    make_move(moved, moves.at(moves.count() - 1));
    EXPECT_NE(moved, assignment);

    AssignmentProblem p{positions, 16, stock, [](std::span<const Assignment> list) {
                            std::vector<double> figures;
                            for (const Assignment& s : list) {
                                figures.push_back(s.front());  // the last kind should not sit first
                            }
                            return figures;
                        }};
    std::reverse(assignment.begin(), assignment.end());
    const AssignmentResult result = best_assignment(p, std::span(&assignment, 1), {.most_judged = 300});
    EXPECT_TRUE(result.cut);
    EXPECT_GE(result.judged, 300U);
    EXPECT_LT(result.judged, 300U + 64U);
    std::vector<int> sorted = result.best;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, std::vector<int>(assignment.rbegin(), assignment.rend()));
}

/// A search ends where nothing is left to gain.
TEST(Assignment, EndsAtTheFloor)
{
    AssignmentProblem p = problem(3, {9, 2, 1});
    const AssignmentResult exact = best_assignment(p, {}, {.most_exact = 100'000});
    p.floor = exact.least;
    const AssignmentResult ended = best_assignment(p, std::span(&exact.best, 1), {.most_exact = 0});
    EXPECT_EQ(ended.judged, 2U);  // as a start, and as one to set out from
    EXPECT_FALSE(ended.cut);
    EXPECT_EQ(ended.best, exact.best);
}

/// 64 replicas, of which 16 each have a slow node at the stage of most work: it should go where the least is.
/// The figure is that of the slowest replica, so that few of all moves change it; the guide knows which.
TEST(Assignment, GuideLeadsOverPlateaus)
{
    constexpr int blocks = 64;
    AssignmentProblem p = problem(blocks, {blocks * 4 - 16, 0, 16});
    Assignment start(p.positions, 0);
    for (int block = 0; block < 16; ++block) {
        start[4 * block] = 2;
    }
    Assignment best(p.positions, 0);
    for (int block = 0; block < 16; ++block) {
        best[4 * block + 3] = 2;
    }
    const AssignmentOptions few{.most_judged = 100};
    EXPECT_GT(best_assignment(p, std::span(&start, 1), few).least, slowest_block(best));
    p.guide = [](std::span<const int> block) {
        return std::pow(slowest_block({block.begin(), block.end()}) / 29.5, 100.0);
    };
    const AssignmentResult guided = best_assignment(p, std::span(&start, 1), few);
    EXPECT_DOUBLE_EQ(guided.least, slowest_block(best));
    EXPECT_EQ(guided.best.size(), best.size());
    EXPECT_EQ(std::count(guided.best.begin(), guided.best.end(), 2), 16);
}

}  // namespace
}  // namespace prismopt
