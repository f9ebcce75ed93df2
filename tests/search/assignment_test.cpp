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

double slowest_block(const Seating& seating)
{
    double slowest = 0.0;
    for (std::size_t first = 0; first < seating.size(); first += work.size()) {
        double sum = 0.0;
        double longest = 0.0;
        for (std::size_t s = 0; s < work.size(); ++s) {
            const double time = work[s] * factor[seating[first + s]];
            sum += time;
            longest = std::max(longest, time);
        }
        slowest = std::max(slowest, sum + 7.0 * longest);
    }
    return slowest;
}

SeatingProblem problem(int blocks, std::vector<int> stock)
{
    return {blocks * 4, 4, std::move(stock), [](std::span<const Seating> list) {
                std::vector<double> figures;
                for (const Seating& s : list) {
                    figures.push_back(slowest_block(s));
                }
                return figures;
            }};
}

/// Every permutation of the things, the first ones on the seats.
double brute_force(const SeatingProblem& p)
{
    Seating things;
    for (std::size_t kind = 0; kind < p.stock.size(); ++kind) {
        things.insert(things.end(), p.stock[kind], static_cast<int>(kind));
    }
    double least = 1e9;
    do {
        least = std::min(least, slowest_block({things.begin(), things.begin() + p.seats}));
    } while (std::next_permutation(things.begin(), things.end()));
    return least;
}

/// 2 blocks of 4: without blocks 8! / (5! 2! 1!) = 168 ways; all but those of equal blocks (none: one thing is single) occur twice.
TEST(Seating, ListsEachWayOnce)
{
    const auto all = all_seatings(problem(2, {5, 2, 1}), 1000);
    EXPECT_EQ(all.size(), 84U);
    std::set<std::multiset<Seating>> blocks;
    for (const Seating& s : all) {
        blocks.insert({Seating(s.begin(), s.begin() + 4), Seating(s.begin() + 4, s.end())});
    }
    EXPECT_EQ(blocks.size(), all.size());
    EXPECT_TRUE(all_seatings(problem(2, {5, 2, 1}), 83).empty());
    EXPECT_EQ(all_seatings(problem(1, {5, 2, 1}), 1000).size(),
              1U + 4 + 4 + 6 + 12 + 12);  // 4 seats of 8 things, by counts of kinds
}

/// 68 things that all differ on 8 blocks of 8: too many ways, which is known at once.
TEST(Seating, ManyWaysAreNotListed)
{
    SeatingProblem p = problem(16, std::vector<int>(68, 1));
    p.block = 8;
    EXPECT_TRUE(all_seatings(p, 2000).empty());
}

TEST(Seating, ExactIsBruteForce)
{
    for (const auto& stock : {std::vector{5, 2, 1}, {4, 3, 2}, {6, 1, 2}, {3, 3, 3}}) {
        const SeatingProblem p = problem(2, stock);
        const SeatingResult result = best_seating(p, {}, {});
        EXPECT_TRUE(result.exact);
        EXPECT_DOUBLE_EQ(result.least, brute_force(p));
        EXPECT_DOUBLE_EQ(result.least, slowest_block(result.best));
        EXPECT_GE(result.most, result.least);
    }
}

/// Moves reach the least that all ways have, from the worst of them.
TEST(Seating, MovesFindWhatIsLeast)
{
    for (const auto& stock : {std::vector{9, 2, 1}, {9, 3, 1}, {8, 2, 2}}) {
        const SeatingProblem p = problem(3, stock);
        const SeatingResult exact = best_seating(p, {}, {.most_exact = 100'000});
        ASSERT_TRUE(exact.exact);
        const SeatingResult moved = best_seating(p, std::span(&exact.worst, 1), {.most_exact = 0});
        EXPECT_FALSE(moved.exact);
        EXPECT_DOUBLE_EQ(moved.least, exact.least);
    }
}

/// Every seating that differs by one move, by trying all pairs and all of the stock.
std::set<Seating> one_move_away(const std::vector<int>& stock, const Seating& seating)
{
    std::set<Seating> all;
    for (std::size_t a = 0; a < seating.size(); ++a) {
        for (std::size_t b = 0; b < seating.size(); ++b) {
            Seating moved = seating;
            std::swap(moved[a], moved[b]);
            all.insert(moved);
        }
        for (int kind = 0; kind < static_cast<int>(stock.size()); ++kind) {
            Seating moved = seating;
            moved[a] = kind;
            if (std::count(moved.begin(), moved.end(), kind) <= stock[kind]) {
                all.insert(moved);
            }
        }
    }
    all.erase(seating);
    return all;
}

TEST(SeatMoves, AreEachOfThemOnce)
{
    const Seating seating{0, 2, 1, 0, 3, 0, 2};
    for (const auto& stock : {std::vector{3, 1, 2, 1, 0}, {5, 1, 2, 1, 0}, {3, 2, 3, 1, 2}, {9, 9, 9, 9, 9}}) {
        const SeatMoves moves(stock, seating);
        std::set<Seating> made;
        for (std::uint64_t i = 0; i < moves.count(); ++i) {
            Seating moved = seating;
            make_move(moved, moves.at(i));
            EXPECT_TRUE(made.insert(moved).second) << i;
        }
        EXPECT_EQ(made, one_move_away(stock, seating));
    }
    EXPECT_EQ(SeatMoves({4}, {0, 0, 0}).count(), 0U);
}

/// 2,048 nodes that all differ have 2048 * 2047 / 2 swaps: kept one by one as seatings they would take 17 GB.
TEST(SeatMoves, ManyAreCountedNotMade)
{
    constexpr int seats = 2048;
    Seating seating(seats);
    std::iota(seating.begin(), seating.end(), 0);
    const std::vector<int> stock(seats, 1);
    const SeatMoves moves(stock, seating);
    EXPECT_EQ(moves.count(), 2048U * 2047U / 2);
    Seating moved = seating;
    make_move(moved, moves.at(moves.count() - 1));
    EXPECT_NE(moved, seating);

    SeatingProblem p{seats, 16, stock, [](std::span<const Seating> list) {
                         std::vector<double> figures;
                         for (const Seating& s : list) {
                             figures.push_back(s.front());  // the last kind should not sit first
                         }
                         return figures;
                     }};
    std::reverse(seating.begin(), seating.end());
    const SeatingResult result = best_seating(p, std::span(&seating, 1), {.most_judged = 300});
    EXPECT_TRUE(result.cut);
    EXPECT_GE(result.judged, 300U);
    EXPECT_LT(result.judged, 300U + 64U);
    std::vector<int> sorted = result.best;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, std::vector<int>(seating.rbegin(), seating.rend()));
}

/// A search ends where nothing is left to gain.
TEST(Seating, EndsAtTheFloor)
{
    SeatingProblem p = problem(3, {9, 2, 1});
    const SeatingResult exact = best_seating(p, {}, {.most_exact = 100'000});
    p.floor = exact.least;
    const SeatingResult ended = best_seating(p, std::span(&exact.best, 1), {.most_exact = 0});
    EXPECT_EQ(ended.judged, 2U);  // as a start, and as one to set out from
    EXPECT_FALSE(ended.cut);
    EXPECT_EQ(ended.best, exact.best);
}

/// 64 replicas, of which 16 each have a slow node at the stage of most work: it should go where the least is. The figure is that of the
/// slowest replica, so that few of all moves change it; the guide knows which.
TEST(Seating, GuideLeadsOverPlateaus)
{
    constexpr int blocks = 64;
    SeatingProblem p = problem(blocks, {blocks * 4 - 16, 0, 16});
    Seating start(p.seats, 0);
    for (int block = 0; block < 16; ++block) {
        start[4 * block] = 2;
    }
    Seating best(p.seats, 0);
    for (int block = 0; block < 16; ++block) {
        best[4 * block + 3] = 2;
    }
    const SeatingOptions few{.most_judged = 100};
    EXPECT_GT(best_seating(p, std::span(&start, 1), few).least, slowest_block(best));
    p.guide = [](std::span<const int> block) { return std::pow(slowest_block({block.begin(), block.end()}) / 29.5, 100.0); };
    const SeatingResult guided = best_seating(p, std::span(&start, 1), few);
    EXPECT_DOUBLE_EQ(guided.least, slowest_block(best));
    EXPECT_EQ(guided.best.size(), best.size());
    EXPECT_EQ(std::count(guided.best.begin(), guided.best.end(), 2), 16);
}

}  // namespace
}  // namespace prismopt
