#include "model/run/local_updates.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

TEST(LocalUpdates, TheTableIsThePublishedOne)
{
    EXPECT_DOUBLE_EQ(published_local_gap(35e6, 8), 0.039);
    EXPECT_DOUBLE_EQ(published_local_gap(2.4e9, 4), 0.003);
    EXPECT_EQ(published_local_gap(10e9, 2), 0.0) << "a gain is not credited";
    EXPECT_DOUBLE_EQ(published_local_gap(405e9, 8), 0.011) << "beyond the table as at its end";
    EXPECT_NEAR(published_local_gap(std::sqrt(35e6 * 90e6), 8), 0.035, 1e-12);
    EXPECT_NEAR(published_local_gap(35e6, 3), 0.007 + (std::log2(3.0) - 1.0) * 0.013, 1e-12);
}

/// Tables 7 and 8 of the paper fit the loss by A N^alpha for each number of groups.
TEST(LocalUpdates, TheTableAgreesWithThePublishedFits)
{
    const auto loss = [](double a, double alpha, double parameters) {
        return a * std::pow(parameters, alpha);
    };
    for (const double n : {35e6, 90e6, 180e6, 335e6, 550e6, 1.3e9, 2.4e9}) {
        const double synchronous = loss(18.129, -0.0953, n);
        EXPECT_NEAR(published_local_gap(n, 2), loss(18.768, -0.0969, n) / synchronous - 1.0, 0.004) << n;
        EXPECT_NEAR(published_local_gap(n, 4), loss(19.762, -0.0992, n) / synchronous - 1.0, 0.004) << n;
        EXPECT_NEAR(published_local_gap(n, 8), loss(21.051, -0.1018, n) / synchronous - 1.0, 0.004) << n;
        for (int groups = 3; groups <= most_published_groups; ++groups) {
            EXPECT_GT(published_local_gap(n, groups), published_local_gap(n, groups - 1));
        }
    }
}

TEST(LocalUpdates, ThePriceIsThatOfStepsOrGroups)
{
    const LocalUpdates given{.by_steps = {{30, 0.02}, {100, 0.05}}};
    EXPECT_DOUBLE_EQ(given.tokens_factor(30, 2), 1.02);
    EXPECT_DOUBLE_EQ(given.tokens_factor(100, 8), 1.05);
    EXPECT_DOUBLE_EQ(LocalUpdates{.any_steps = 0.1}.tokens_factor(7, 3), 1.1);
    EXPECT_DOUBLE_EQ((LocalUpdates{.by_groups = {1.0, 1.0, 1.2, 1.3}}.tokens_factor(30, 3)), 1.3);
}

}  // namespace
}  // namespace prismopt
