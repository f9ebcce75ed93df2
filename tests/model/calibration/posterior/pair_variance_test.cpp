#include "model/calibration/posterior/pair_variance.hpp"

#include "model/base/powers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace prismopt {
namespace {

const std::vector<double> of_constants{0.04, 0.01, 0.01, 0.09};

Discrepancy of_pairs()
{
    Discrepancy discrepancy{.deviation = 0.1, .source = 0.15, .repeat = 0.03};
    discrepancy.lengths.fill(3.0);
    return discrepancy;
}

PlanOfPosterior known(int tp, std::vector<double> gradient)
{
    ParallelPlan plan;
    plan.tp = tp;
    return {traits_of(plan), std::move(gradient)};
}

TEST(PairVariance, IsThatOfTheDrawsOfPlansOnOneMachine)
{
    const Discrepancy discrepancy = of_pairs();
    const std::vector<PlanOfPosterior> plans{known(1, {0.8, 0.1}), known(4, {0.5, 0.4})};
    constexpr std::size_t draws = 40'000;
    const std::vector<double> drawn = StepPosterior(of_constants, discrepancy).draw(plans, draws, 1, {});
    double squares = 0.0;
    for (std::size_t d = 0; d < draws; ++d) {
        squares += square(drawn[2 * d + 1] - drawn[2 * d]) / draws;
    }
    const PairVariance variance = variance_of_ratio(discrepancy, of_constants, plans[0], plans[1], 1.0);
    EXPECT_EQ(variance.source, 0.0);
    // The variance of a mean of squares of normal numbers is 2 variance^2 / n; four deviations.
    EXPECT_NEAR(squares, variance.sum(), 4.0 * std::sqrt(2.0 / draws) * variance.sum());
}

TEST(PairVariance, IsThatOfCorrelatedErrorsOnTwoMachines)
{
    const Discrepancy discrepancy = of_pairs();
    constexpr double r = 0.7;
    const PlanOfPosterior a = known(1, {0.8, 0.1});
    const PlanOfPosterior b = known(4, {0.5, 0.4});
    const double trait_correlation =
        covariance(discrepancy, a.traits, b.traits) / square(discrepancy.deviation);
    std::mt19937_64 engine(1);
    std::normal_distribution<double> normal;
    constexpr int draws = 40'000;
    double squares = 0.0;
    for (int d = 0; d < draws; ++d) {
        // Difference of two correlated normal numbers.
        const auto pair_of = [&](double deviation, double correlation) {
            const double one = normal(engine);
            const double other = correlation * one + std::sqrt(1.0 - square(correlation)) * normal(engine);
            return deviation * (one - other);
        };
        const double x = 0.2 * normal(engine);                                  // variance 0.04
        const double y = 0.25 * x + std::sqrt(0.09 - 0.0025) * normal(engine);  // covariance 0.01
        const double constants = (0.8 - 0.5) * x + (0.1 - 0.4) * y;
        squares += square(constants + pair_of(discrepancy.source, r) +
                          pair_of(discrepancy.deviation, r * trait_correlation)) /
                   draws;
    }
    const double variance = variance_of_ratio(discrepancy, of_constants, a, b, r).sum();
    EXPECT_NEAR(squares, variance, 4.0 * std::sqrt(2.0 / draws) * variance);
}

TEST(PairVariance, VanishesForAPlanWithItself)
{
    const PlanOfPosterior plan = known(2, {0.8, 0.1});
    EXPECT_EQ(variance_of_ratio(of_pairs(), of_constants, plan, plan, 1.0).sum(), 0.0);
}

TEST(PairVariance, HasTheSourceEffectsOfBothJobs)
{
    const PlanOfPosterior a = known(2, {0.8, 0.1});
    PlanOfPosterior b = a;
    b.job = 1;
    EXPECT_DOUBLE_EQ(variance_of_ratio(of_pairs(), of_constants, a, b, 1.0).sum(), 2.0 * square(0.15));
}

TEST(MachineCorrelations, TheSmallestOfWhatDiffersCounts)
{
    const MachineCorrelations correlations{.accelerator = 0.8, .software = 0.3, .gpus = 0.95};
    EXPECT_EQ(correlation_of(correlations, {}), 1.0);
    EXPECT_EQ(correlation_of(correlations, {.accelerator = true, .gpus = true}), 0.8);
    EXPECT_EQ(correlation_of(correlations, {.accelerator = true, .software = true}), 0.3);
}

}  // namespace
}  // namespace prismopt
