#include "search/shortlist.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace prismopt {
namespace {

using testing::ElementsAre;

constexpr double nowhere = std::numeric_limits<double>::infinity();

JointDraws random_draws(std::size_t points, std::size_t draws, unsigned seed)
{
    std::mt19937 random(seed);
    std::lognormal_distribution<double> value(0.0, 0.1);
    JointDraws result{points, {}};
    for (std::size_t i = 0; i < points * draws; ++i) {
        result.values.push_back(value(random));
    }
    return result;
}

/// The slow, obvious version.
double regret_of(const JointDraws& draws, const std::vector<std::size_t>& chosen)
{
    double sum = 0.0;
    for (std::size_t d = 0; d < draws.draws(); ++d) {
        double best = nowhere;
        double own = nowhere;
        for (std::size_t i = 0; i < draws.points; ++i) {
            best = std::min(best, draws.at(d, i));
        }
        for (const std::size_t i : chosen) {
            own = std::min(own, draws.at(d, i));
        }
        sum += own / best - 1.0;
    }
    return sum / static_cast<double>(draws.draws());
}

TEST(Chances, CountDrawsByHand)
{
    const std::vector<Chance> chance = chances({3,
                                                {1.0, 2.0, 4.0,                 //
                                                 3.0, 1.5, 3.0,                 //
                                                 2.0, 2.0, nowhere,             //
                                                 nowhere, nowhere, nowhere}});  // does not count
    EXPECT_DOUBLE_EQ(chance[0].best, 1.5 / 3.0);
    EXPECT_DOUBLE_EQ(chance[1].best, 1.5 / 3.0);
    EXPECT_DOUBLE_EQ(chance[2].best, 0.0);
    EXPECT_DOUBLE_EQ(chance[2].possible, 2.0 / 4.0);
    EXPECT_DOUBLE_EQ(chance[0].regret, (0.0 + 1.0 + 0.0) / 3.0);
    EXPECT_DOUBLE_EQ(chance[2].regret, (3.0 + 1.0) / 2.0);
    EXPECT_DOUBLE_EQ(chance[0].most_regret, 1.0);
    EXPECT_DOUBLE_EQ(chance[2].most_regret, 3.0);
}

TEST(Chances, OfABestAddUpToOne)
{
    double sum = 0.0;
    for (const Chance& chance : chances(random_draws(20, 500, 1))) {
        sum += chance.best;
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
}

TEST(Equivalents, AreEqualInEveryDraw)
{
    // 0 and 2 differ by 0.4 % in each draw, 1 by that in the mean only; 3 is possible elsewhere.
    const JointDraws draws{4,
                           {1.000, 1.05, 1.004, 1.000,  //
                            2.000, 1.91, 2.008, nowhere}};
    EXPECT_THAT(equivalents(draws), ElementsAre(0, 1, 0, 3));
    EXPECT_THAT(equivalents(draws, 0.003), ElementsAre(0, 1, 2, 3));
}

TEST(Covering, TakesPointsByTheirChanceUntilTheyCover)
{
    // Best in 5, 3 and 2 of 10 draws; 3 is equivalent to 1 and as often the better one.
    JointDraws draws{4, {}};
    for (int d = 0; d < 10; ++d) {
        const int best = d < 5 ? 0 : d < 8 ? 1 : 2;
        for (int i = 0; i < 3; ++i) {
            draws.values.push_back(i == best ? 1.0 : 1.1);
        }
        draws.values.push_back(best == 1 ? 0.999 : 1.1);
    }
    const Shortlist list = covering(draws, 0.8);
    EXPECT_THAT(list.points, ElementsAre(0, 3));
    EXPECT_THAT(list.cover, ElementsAre(0.5, 0.8));
    EXPECT_THAT(covering(draws, 0.81).points, ElementsAre(0, 3, 2));
    EXPECT_TRUE(covering(draws, 0.0).points.empty());
    EXPECT_EQ(covering(draws, 2.0).points.size(), 3U);  // no more than there are
}

TEST(LeastRegret, FirstIsTheLeastExpectedRegretAndPairsAreNearTheBest)
{
    // Two greedy steps after the first, against the best three: 1 - (1 - 1/3)^2 of the decrease that is left.
    constexpr double guaranteed = 5.0 / 9.0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        const JointDraws draws = random_draws(8, 60, seed);
        const Shortlist list = least_regret(draws, 3);
        ASSERT_EQ(list.points.size(), 3U);
        double single = nowhere;
        double triple = nowhere;
        for (std::size_t i = 0; i < 8; ++i) {
            single = std::min(single, regret_of(draws, {i}));
            for (std::size_t j = 0; j < i; ++j) {
                for (std::size_t k = 0; k < j; ++k) {
                    triple = std::min(triple, regret_of(draws, {i, j, k}));
                }
            }
        }
        EXPECT_DOUBLE_EQ(list.regret[0], single);
        EXPECT_DOUBLE_EQ(list.regret[2], regret_of(draws, list.points));
        EXPECT_LE(list.regret[2], single - guaranteed * (single - triple) + 1e-12);
    }
}

TEST(LeastRegret, CountsTheWorstWhereNothingOfTheListIsPossible)
{
    const Shortlist list = least_regret({3,
                                         {1.0, nowhere, 1.5,  //
                                          nowhere, 1.0, 1.2}},
                                        2);
    EXPECT_EQ(list.points[0], 0U);  // 0 and 0.2 (as bad as the worst); of 2: 0.5 and 0.2
    EXPECT_DOUBLE_EQ(list.regret[0], 0.1);
    EXPECT_EQ(list.points[1], 1U);
    EXPECT_DOUBLE_EQ(list.regret[1], 0.0);
}

}  // namespace
}  // namespace prismopt
