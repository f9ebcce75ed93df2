#include "model/remaining_run.hpp"

#include "tests/support/example_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace prismopt {
namespace {

constexpr SamplerOptions options{1, Purpose::confirm, 2};

ParallelPlan plan()
{
    ParallelPlan plan;
    plan.tp = 8;
    plan.pp = 1;
    plan.dp = 8;
    plan.microbatch = 1;
    return plan;
}

Problem problem()
{
    Problem problem = example_problem({}, 64, std::vector<int>{64});
    problem.phases = {{1e9, 2048, 64}, {3e9, 2048, 64}};
    return problem;
}

double mean(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST(PhaseOfStep, CountsStepsOfAllPhases)
{
    const std::vector<Phase> phases = problem().phases;
    const double first = phases[0].steps();
    EXPECT_EQ(phase_of_step(phases, 0.0), 0U);
    EXPECT_EQ(phase_of_step(phases, first - 1.0), 0U);
    EXPECT_EQ(phase_of_step(phases, first), 1U);
    EXPECT_EQ(phase_of_step(phases, 10.0 * first), 1U);
}

TEST(RemainingRun, IsTheStepsLeftAtTheSpeedOfTheJobWithoutFailures)
{
    Problem quiet = problem();
    quiet.reliability = {};
    const double first = quiet.phases[0].steps();
    const double second = quiet.phases[1].steps();
    const RemainingRun half =
        remaining_run(quiet, plan(), {1.0, 2.0}, {.steps_done = first / 2.0, .speed = 1.1}, options);
    EXPECT_NEAR(half.steps, first / 2.0 + second, 1e-6);
    for (const double seconds : half.seconds) {
        ASSERT_NEAR(seconds, 1.1 * (first / 2.0 + 2.0 * second), 1e-3);
    }
    EXPECT_THAT(remaining_run(quiet, plan(), {1.0, 2.0}, {.steps_done = first + second}, options).seconds,
                testing::Each(0.0));
}

TEST(RemainingRun, IsAsWideAsTheSpeedIsUncertain)
{
    Problem quiet = problem();
    quiet.reliability = {};
    const std::vector<double> seconds =
        remaining_run(quiet, plan(), {1.0, 1.0}, {.speed_error = 0.02}, options).seconds;
    const double average = mean(seconds);
    double squares = 0.0;
    for (const double s : seconds) {
        squares += (s / average - 1.0) * (s / average - 1.0) / static_cast<double>(seconds.size());
    }
    // Four standard errors.
    EXPECT_NEAR(std::sqrt(squares), 0.02, 0.02 * 4.0 / std::sqrt(2.0 * static_cast<double>(seconds.size())));
}

TEST(RemainingRun, BoundsTheWorkOfJobsThatNeverEnd)
{
    const Problem failing = problem();
    const RemainingRun usual = remaining_run(failing, plan(), {10.0, 10.0}, {}, options);
    EXPECT_EQ(usual.seconds.size(), 8192U);
    EXPECT_EQ(usual.about_s, 0.0);
    const RemainingRun slow = remaining_run(failing, plan(), {10.0, 10.0}, {.speed = 1e5}, options);
    EXPECT_GE(slow.seconds.size(), 128U);
    const RemainingRun endless = remaining_run(failing, plan(), {10.0, 10.0}, {.speed = 1e12}, options);
    EXPECT_TRUE(endless.seconds.empty());
    EXPECT_GT(endless.about_s, 1e12 * mean(usual.seconds) * 0.9);
}

TEST(RemainingRun, LearnsTheRateFromTheFailures)
{
    const Problem failing = problem();
    const double trained_s = 30.0 * 86'400.0;
    const auto after = [&](double failures) {
        return remaining_run(failing, plan(), {1.0, 1.0}, {.trained_s = trained_s, .failures = failures},
                             options);
    };
    const RemainingRun none = after(0.0);
    EXPECT_NEAR(none.expected_failures, 8.0 * 4e-3 * 30.0, 1e-9);  // nodes, per day, days
    EXPECT_NEAR(none.rate_factor, prior_failures / (prior_failures + none.expected_failures), 1e-12);
    EXPECT_NEAR(after(none.expected_failures).rate_factor, 1.0, 1e-12);
    EXPECT_GT(mean(after(20.0).seconds), mean(none.seconds));
}

TEST(RemainingRun, HasNoEndWhereFailuresAreFasterThanRestarts)
{
    Problem hopeless = problem();
    hopeless.reliability.node_failure_rate = PerSecond{1.0};
    EXPECT_TRUE(remaining_run(hopeless, plan(), {1.0, 1.0}, {}, options).seconds.empty());
}

}  // namespace
}  // namespace prismopt
