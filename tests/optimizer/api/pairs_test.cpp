#include "optimizer/api/pairs.hpp"

#include "io/scenario/constants/catalog_discrepancy.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "model/base/powers.hpp"
#include "model/prediction.hpp"

#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace prismopt {
namespace {

Scenario pair_scenario() { return tiny_scenario("gpus = [8]\ntp = [1, 2]\npp = [1, 2]\nmicrobatch = [1]\n"); }

Scenario on_accelerator(const std::string& accelerator)
{
    Scenario scenario = pair_scenario();
    scenario.cluster.accelerator = under(catalog_accelerator(accelerator), scenario.cluster.stack);
    return scenario;
}

TEST(PairError, OfAPlanWithItselfIsNothing)
{
    const ChosenPlan plan = plan_with(pair_scenario(), "gpus=8 tp=2 pp=2");
    const PairError error = pair_error(plan, plan);
    EXPECT_TRUE(error.same_plan);
    EXPECT_EQ(error.low(), 1.0);
    EXPECT_EQ(error.high(), 1.0);
    const PlanPrediction prediction = predict(plan);
    const ComparedPair pair = compared_plans(plan, prediction, plan, prediction);
    EXPECT_EQ(pair.ratio, 1.0);
    EXPECT_EQ(pair.low, 1.0);
    EXPECT_EQ(pair.high, 1.0);
    EXPECT_NEAR(pair.chance_less, 0.5, 1e-12);
    EXPECT_TRUE(pair.differ.empty());
    EXPECT_TRUE(pair.same_plan);
    EXPECT_EQ(pair_rows({pair})[1].back(), "nothing: the plan is the same");
}

TEST(PairError, OfPlansOfOneMachineHasNoSourceEffect)
{
    const PairError error = pair_error(plan_with(pair_scenario(), "gpus=8 tp=2 pp=2"),
                                       plan_with(pair_scenario(), "gpus=8 tp=1 pp=2"));
    EXPECT_FALSE(error.same_design);
    EXPECT_FALSE(error.same_plan);
    EXPECT_EQ(error.correlation, 1.0);
    EXPECT_EQ(error.variance.source, 0.0);
    EXPECT_EQ(error.variance.hardware, 0.0);
    EXPECT_GT(error.variance.plans, 0.0);
}

TEST(PairError, GrowsWithTheDistanceOfChangedNumbers)
{
    const ChosenPlan base = plan_with(pair_scenario(), "gpus=8 tp=2 pp=2");
    double last = 0.0;
    for (const double factor : {1.0, 1.1, 1.5, 2.0, 4.0}) {
        ChosenPlan changed = base;
        changed.scenario.cluster.accelerator.memory_bandwidth.si *= factor;
        const double deviation = std::sqrt(pair_error(base, changed).variance.hardware);
        EXPECT_NEAR(deviation, fitted_model().unmeasured * std::min(1.0, std::log2(factor)), 1e-9);
        EXPECT_GE(deviation, last);
        last = deviation;
    }
}

TEST(PairError, OfTwoAcceleratorsHasTheFittedCorrelation)
{
    const ChosenPlan h100 = plan_with(on_accelerator("h100-sxm"), "gpus=8 tp=2 pp=2");
    const ChosenPlan b200 = plan_with(on_accelerator("b200-sxm"), "gpus=8 tp=2 pp=2");
    const PairError error = pair_error(h100, b200);
    const double r = catalog_correlations().accelerator;
    EXPECT_TRUE(error.differ.accelerator);
    EXPECT_TRUE(error.same_design);
    EXPECT_FALSE(error.same_plan);
    EXPECT_EQ(error.correlation, r);
    EXPECT_NEAR(error.variance.source, 2.0 * square(catalog_discrepancy().source) * (1.0 - r), 1e-12);
    EXPECT_GT(error.variance.constants, 0.0);
    EXPECT_LT(error.low(), 1.0);
    EXPECT_GT(error.high(), 1.0);
    // The ratio the other way round has the same error.
    EXPECT_NEAR(pair_error(b200, h100).high() * error.low(), 1.0, 1e-9);
}

TEST(PairError, HasOneSoftwareForBothPlansWhereItWasNotGiven)
{
    StepError a;
    a.known.gradient.assign(fitted_model().constants.size(), 0.0);
    a.design = "a";
    a.software = {{"fast", 0.5, 0.0}, {"slow", 0.5, std::log(2.0)}};
    StepError b = a;
    b.design = "b";
    const PairError together =
        pair_error(a, b, fitted_model(), catalog_discrepancy(), catalog_correlations());
    ASSERT_EQ(together.components.size(), 2U);
    EXPECT_EQ(together.components[1].mean, 0.0);
    b.software = {};
    const PairError different =
        pair_error(a, b, fitted_model(), catalog_discrepancy(), catalog_correlations());
    EXPECT_DOUBLE_EQ(different.components[1].mean, -std::log(2.0));
}

/// Against draws: the model's error, the quantiles of both runs, and the noise of repeats.
TEST(PairError, ChanceOfOneRunIsThatOfDraws)
{
    PairError error;
    error.components = {{0.7, 0.0, 0.1}, {0.3, 0.2, 0.05}};
    const std::vector<double> first{-0.1, 0.0, 0.2};
    const std::vector<double> second{0.0, 0.05};
    constexpr double repeat = 0.03;
    constexpr double log_ratio = -0.05;
    std::mt19937_64 engine(1);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    constexpr int draws = 40'000;
    int less = 0;
    for (int d = 0; d < draws; ++d) {
        const NormalComponent& component = error.components[uniform(engine) < 0.7 ? 0 : 1];
        const double ratio = log_ratio + component.mean + component.deviation * normal(engine);
        const double one = first[static_cast<std::size_t>(3.0 * uniform(engine))] + repeat * normal(engine);
        const double other =
            ratio + second[static_cast<std::size_t>(2.0 * uniform(engine))] + repeat * normal(engine);
        less += other < one ? 1 : 0;
    }
    const double chance = chance_less(error, log_ratio, first, second, repeat);
    EXPECT_NEAR(static_cast<double>(less) / draws, chance, 4.0 * std::sqrt(chance * (1.0 - chance) / draws));
}

TEST(PairError, ScatterOfRunsHasTheQuantilesOfTheirTable)
{
    TimeDistribution times;
    times.mean = Estimate::exact(100.0);
    EXPECT_EQ(run_scatter(times), std::vector<double>{0.0});
    for (const double probability : reported_probabilities) {
        times.quantiles.push_back(100.0 * (0.9 + 0.2 * probability));  // uniform
    }
    const std::vector<double> scatter = run_scatter(times);
    double mean = 0.0;
    for (const double logarithm : scatter) {
        mean += std::exp(logarithm) / static_cast<double>(scatter.size());
    }
    EXPECT_NEAR(mean, 1.0, 1e-9);
    EXPECT_NEAR(std::exp(scatter.front()), 0.9 + 0.2 * 0.5 / 64.0, 1e-9);
}

}  // namespace
}  // namespace prismopt
