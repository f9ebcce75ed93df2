#include "search/assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

}  // namespace
}  // namespace prismopt
