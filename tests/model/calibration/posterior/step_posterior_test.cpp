#include "model/calibration/posterior/step_posterior.hpp"

#include "model/base/powers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace prismopt {
namespace {

Discrepancy usual()
{
    Discrepancy discrepancy{.deviation = 0.1, .source = 0.15, .repeat = 0.03};
    discrepancy.lengths.fill(3.0);
    return discrepancy;
}

PlanOfPosterior plan_of(int tp, int pp, std::vector<double> gradient)
{
    ParallelPlan plan;
    plan.tp = tp;
    plan.pp = pp;
    return {traits_of(plan), std::move(gradient)};
}

const std::vector<double> two_constants{0.04, 0.01, 0.01, 0.09};

/// Prior covariance of two plans, by the definition.
double prior(const Discrepancy& d, const PlanOfPosterior& a, const PlanOfPosterior& b)
{
    double sum = square(d.source) + covariance(d, a.traits, b.traits);
    for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            sum += a.gradient[i] * two_constants[2 * i + j] * b.gradient[j];
        }
    }
    return sum;
}

TEST(Discrepancy, FallsWithTheDistanceOfPlans)
{
    const Discrepancy discrepancy = usual();
    ParallelPlan plan;
    plan.pp = 2;
    const PlanTraits first = traits_of(plan);
    plan.tp = 8;
    plan.schedule = Schedule::zb_h1;
    EXPECT_DOUBLE_EQ(covariance(discrepancy, first, first), 0.01);
    EXPECT_DOUBLE_EQ(covariance(discrepancy, first, traits_of(plan)), 0.01 * std::exp(-(3.0 + 1.0) / 3.0));
}

TEST(Discrepancy, OffloadIsAnotherPlaceOfTheStates)
{
    const Discrepancy discrepancy = usual();
    ParallelPlan plan;
    plan.sharding = Sharding::zero3;
    const PlanTraits on_gpus = traits_of(plan);
    plan.offload = Offload::optimizer;
    const PlanTraits on_hosts = traits_of(plan);
    EXPECT_DOUBLE_EQ(covariance(discrepancy, on_gpus, on_hosts), 0.01 * std::exp(-1.0 / 3.0));
    plan.sharding = Sharding::none;
    EXPECT_DOUBLE_EQ(covariance(discrepancy, traits_of(plan), on_hosts), 0.01 * std::exp(-1.0 / 3.0));
}

TEST(Discrepancy, ScheduleMattersOnlyToPipelines)
{
    ParallelPlan gpipe;
    gpipe.schedule = Schedule::gpipe;
    ParallelPlan other;
    other.schedule = Schedule::one_f_one_b;
    EXPECT_EQ(traits_of(gpipe), traits_of(other));
    gpipe.pp = other.pp = 2;
    EXPECT_NE(traits_of(gpipe), traits_of(other));
}

TEST(RepeatDeviation, IsTheMeanOverSources)
{
    // Pooled variances of two sources: (0.02 + 0.005) / (1 + 1) and 0.08 / 1; plans
    // that are not repeated say nothing.
    EXPECT_DOUBLE_EQ(repeat_deviation({{{0.1, 0.3}, {0.5, 0.6}}, {{1.0, 1.4}, {7.0}}, {{2.0}}}),
                     std::sqrt((0.0125 + 0.08) / 2.0));
    EXPECT_DOUBLE_EQ(repeat_deviation({}), 0.0);
}

TEST(StepPosterior, IsThePriorBeforeObservations)
{
    const std::vector<PlanOfPosterior> plans{plan_of(1, 1, {-1.0, 0.0}), plan_of(4, 2, {-0.5, 0.3})};
    const StepPosterior posterior(two_constants, usual());
    const std::vector<NormalMarginal> marginals = posterior.marginals(plans);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_DOUBLE_EQ(marginals[i].mean, 0.0);
        EXPECT_NEAR(square(marginals[i].deviation), prior(usual(), plans[i], plans[i]), 1e-12);
    }
}

TEST(StepPosterior, ConditionsOnAnObservationAsTwoNormalsDo)
{
    const std::vector<PlanOfPosterior> plans{plan_of(1, 1, {-1.0, 0.0}), plan_of(4, 2, {-0.5, 0.3})};
    const StepPosterior posterior(two_constants, usual(), {{plans[0], 0.2}});
    const double observed = prior(usual(), plans[0], plans[0]) + square(0.03);
    const double both = prior(usual(), plans[0], plans[1]);
    const NormalMarginal other = posterior.marginals(plans)[1];
    EXPECT_NEAR(other.mean, 0.2 * both / observed, 1e-12);
    EXPECT_NEAR(square(other.deviation), prior(usual(), plans[1], plans[1]) - both * both / observed, 1e-12);
    // A constant and the source by the same formula.
    const std::vector<NormalMarginal> constants = posterior.constants();
    ASSERT_EQ(constants.size(), 3U);
    EXPECT_NEAR(constants[1].mean, 0.2 * (-1.0 * 0.01) / observed, 1e-12);
    EXPECT_NEAR(constants[2].mean, 0.2 * square(0.15) / observed, 1e-12);
    EXPECT_NEAR(square(constants[2].deviation), square(0.15) - square(square(0.15)) / observed, 1e-12);
}

TEST(StepPosterior, JobsHaveSourceEffectsOfTheirOwn)
{
    const PlanOfPosterior measured = plan_of(1, 1, {-1.0, 0.0});
    PlanOfPosterior other = plan_of(4, 2, {-0.5, 0.3});
    other.job = 1;
    const StepPosterior posterior(two_constants, usual(), {{measured, 0.2}});
    const double observed = prior(usual(), measured, measured) + square(0.03);
    const double both = prior(usual(), measured, other) - square(usual().source);
    const NormalMarginal marginal = posterior.marginals({{other}})[0];
    EXPECT_NEAR(marginal.mean, 0.2 * both / observed, 1e-12);
    EXPECT_NEAR(posterior.constants(1).back().mean, 0.0, 1e-12);
    EXPECT_NEAR(posterior.constants(1).back().deviation, usual().source, 1e-12);
    // Draws of both jobs, to five standard errors.
    constexpr std::size_t draws = 4096;
    const std::vector<double> drawn = posterior.draw(std::vector{measured, other}, draws, 3, {});
    double mean = 0.0;
    for (std::size_t d = 0; d < draws; ++d) {
        mean += drawn[2 * d + 1] / draws;
    }
    EXPECT_NEAR(mean, marginal.mean, 5.0 * marginal.deviation / std::sqrt(draws));
}

/// Draws of many plans by a Cholesky factor without blocks (Golub and Van Loan, algorithm 4.2.1).
std::vector<double> drawn_plainly(const Discrepancy& discrepancy, const std::vector<PlanOfPosterior>& plans,
                                  const std::vector<double>& normals)
{
    const std::size_t n = plans.size();
    std::vector<double> root(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double rest = covariance(discrepancy, plans[i].traits, plans[j].traits);
            for (std::size_t k = 0; k < j; ++k) {
                rest -= root[i * n + k] * root[j * n + k];
            }
            root[i * n + j] = i == j ? std::sqrt(rest) : rest / root[j * n + j];
        }
    }
    std::vector<double> values(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k <= i; ++k) {
            values[i] += root[i * n + k] * normals[k];
        }
    }
    return values;
}

TEST(StepPosterior, DrawsManyPlansWithPauses)
{
    Discrepancy discrepancy = usual();
    discrepancy.source = 0.0;
    std::vector<PlanOfPosterior> plans;
    for (int i = 0; i < 200; ++i) {
        plans.push_back(plan_of(1 + i % 20, 1 + i / 20, {0.0}));
    }
    int pauses = 0;
    const std::vector<double> drawn =
        StepPosterior({0.0}, discrepancy).draw(plans, 3, 7, {}, [&pauses] { ++pauses; });
    EXPECT_GT(pauses, 6);
    Discrepancy independent = discrepancy;
    independent.lengths.fill(1e-6);
    std::vector<double> normals = StepPosterior({0.0}, independent).draw(plans, 3, 7, {});
    for (std::size_t d = 0; d < 3; ++d) {
        std::vector<double> of_draw(normals.begin() + static_cast<std::ptrdiff_t>(d * plans.size()),
                                    normals.begin() + static_cast<std::ptrdiff_t>((d + 1) * plans.size()));
        for (double& value : of_draw) {
            value /= discrepancy.deviation;
        }
        const std::vector<double> expected = drawn_plainly(discrepancy, plans, of_draw);
        for (std::size_t i = 0; i < plans.size(); ++i) {
            EXPECT_NEAR(drawn[d * plans.size() + i], expected[i], 1e-6);
        }
    }
    const auto stop = [] { throw std::runtime_error("stopped"); };
    EXPECT_THROW(StepPosterior({0.0}, discrepancy).draw(plans, 3, 7, {}, stop), std::runtime_error);
}

TEST(StepPosterior, SurprisesAreThoseOfFitsWithoutTheObservation)
{
    const std::vector<StepObservation> all{{plan_of(1, 1, {-1.0, 0.0}), 0.2},
                                           {plan_of(2, 1, {-0.9, 0.1}), 0.15, 0.05},
                                           {plan_of(8, 4, {-0.5, 0.4}), -0.3}};
    const std::vector<double> surprises = StepPosterior(two_constants, usual(), all).surprises();
    for (std::size_t left = 0; left < all.size(); ++left) {
        std::vector<StepObservation> others = all;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
        const StepPosterior posterior(two_constants, usual(), others);
        const NormalMarginal expected = posterior.marginals({{all[left].plan}})[0];
        const double noise = all[left].deviation > 0.0 ? all[left].deviation : usual().repeat;
        EXPECT_NEAR(surprises[left],
                    (all[left].log_ratio - expected.mean) / std::hypot(expected.deviation, noise), 1e-9);
    }
}

/// Means and covariances of draws against the marginals and the prior, to five standard errors.
void expect_moments(const std::vector<StepObservation>& observations, StepPosterior::Components components)
{
    const std::vector<PlanOfPosterior> plans{plan_of(1, 1, {-1.0, 0.0}), plan_of(4, 2, {-0.5, 0.3}),
                                             plan_of(4, 2, {-0.4, 0.1})};
    Discrepancy discrepancy = usual();
    if (!components.delta && observations.empty()) {
        discrepancy.deviation = 1e-12;  // the oracle has none
    }
    const StepPosterior oracle(two_constants, discrepancy, observations);
    const std::vector<NormalMarginal> expected = oracle.marginals(plans);
    constexpr std::size_t count = 20000;
    const std::vector<double> draws =
        StepPosterior(two_constants, usual(), observations).draw(plans, count, 5, components);
    ASSERT_EQ(draws.size(), count * plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
        double mean = 0.0;
        double squares = 0.0;
        for (std::size_t d = 0; d < count; ++d) {
            mean += draws[d * plans.size() + i] / count;
            squares += square(draws[d * plans.size() + i]) / count;
        }
        const double variance = square(expected[i].deviation);
        EXPECT_NEAR(mean, expected[i].mean, 5.0 * std::sqrt(variance / count));
        EXPECT_NEAR(squares - mean * mean, variance, 5.0 * variance * std::sqrt(2.0 / count));
    }
}

TEST(StepPosterior, DrawsHaveItsMoments)
{
    expect_moments({}, {});
    expect_moments({}, {.delta = false});
    expect_moments({{plan_of(1, 1, {-1.0, 0.0}), 0.2}, {plan_of(8, 4, {-0.5, 0.4}), -0.3}}, {});
}

TEST(StepPosterior, DrawsOfPlansWithEqualTraitsDifferByTheirConstantsOnly)
{
    const std::vector<PlanOfPosterior> plans{plan_of(4, 2, {-0.5, 0.3}), plan_of(4, 2, {-0.5, 0.3}),
                                             plan_of(8, 1, {-0.5, 0.3})};
    const std::vector<double> draws = StepPosterior(two_constants, usual()).draw(plans, 50, 1, {});
    const std::vector<double> without =
        StepPosterior(two_constants, usual()).draw(plans, 50, 1, {.delta = false});
    for (std::size_t d = 0; d < 50; ++d) {
        EXPECT_DOUBLE_EQ(draws[3 * d], draws[3 * d + 1]);
        EXPECT_NE(draws[3 * d], draws[3 * d + 2]);
        EXPECT_DOUBLE_EQ(without[3 * d], without[3 * d + 2]);
    }
}

TEST(FitDiscrepancy, FindsTheDiscrepancyOfSyntheticGroups)
{
    Discrepancy truth = usual();
    truth.lengths.fill(1e3);  // traits other than tp and schedule make no difference
    truth.lengths[0] = 2.0;
    truth.lengths[PlanTraits::degree_names.size()] = 1.0;
    std::mt19937 random(3);
    std::vector<MeasuredGroup> groups;
    for (unsigned g = 0; g < 150; ++g) {
        std::vector<PlanOfPosterior> plans;
        for (int k = 0; k < 6; ++k) {
            ParallelPlan plan;
            plan.pp = 2;
            plan.tp = 1 << (random() % 5);
            plan.schedule = random() % 2 == 0 ? Schedule::one_f_one_b : Schedule::zb_h1;
            plans.push_back({traits_of(plan), {0.0, 0.0}});
        }
        const std::vector<double> drawn = StepPosterior({0.0, 0.0, 0.0, 0.0}, truth).draw(plans, 1, g, {});
        std::normal_distribution<double> noise(0.0, truth.repeat);
        MeasuredGroup group;
        for (std::size_t k = 0; k < plans.size(); ++k) {
            group.traits.push_back(plans[k].traits);
            group.log_ratio.push_back(drawn[k] + noise(random));
        }
        group.constants.assign(plans.size() * plans.size(), 0.0);
        groups.push_back(std::move(group));
    }
    // Standard errors of a deviation from n groups: about 1 / sqrt(2 n) = 6 %; of lengths twice that.
    const Discrepancy fitted = fit_discrepancy(groups, truth.repeat);
    EXPECT_NEAR(fitted.deviation, truth.deviation, 0.25 * truth.deviation);
    EXPECT_NEAR(fitted.source, truth.source, 0.25 * truth.source);
    EXPECT_NEAR(std::log(fitted.lengths[0] / truth.lengths[0]), 0.0, 0.5);
    EXPECT_NEAR(std::log(fitted.lengths[PlanTraits::degree_names.size()] / 1.0), 0.0, 0.5);
    EXPECT_EQ(fitted.groups, 150);
}

}  // namespace
}  // namespace prismopt
