#include "optimizer/preview/space_estimate.hpp"

#include "optimizer/parallel/stop.hpp"
#include "optimizer/preview/dry_run.hpp"
#include "optimizer/study/worker.hpp"
#include "search/archive.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace prismopt {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string many_choices = R"(gpus = { from = 1, to = 16, step = 1 }
tp = [1, 2, 4, 8]
cp = [1, 2]
pp = [1, 2, 3, 4, 5]
v = [1, 2, 3]
microbatch = [1, 2, 3, 8]
schedule = ["interleaved", "zb_v", "1f1b", "gpipe"]
recompute = ["none", "full"]
sharding = ["zero1", "none"]
split = ["slots", "layers"]
dp_overlap = ["off", "on"]
order = ["tp-dp-pp", "tp-pp-dp"]
)";

/// Estimates have some seconds, which are too few where an instrumented program is ten times slower.
#ifdef __SANITIZE_ADDRESS__
constexpr bool too_slow = true;
#else
constexpr bool too_slow = false;
#endif

void expect_near(const Estimated& estimate, double truth)
{
    const double deviation = (estimate.high - estimate.value) / 1.96;
    EXPECT_NEAR(estimate.value, truth, 4.0 * deviation);
    EXPECT_LT(deviation, 0.1 * truth);
}

/// What is estimated from some branches is what judging each tuple counts.
TEST(SpaceEstimate, AgreesWithTheWholeSpace)
{
    if (too_slow) {
        GTEST_SKIP() << "its seconds are too few for an instrumented program";
    }
    const Scenario scenario = tiny_scenario(many_choices);
    const StudyModel model(scenario);
    Worker worker(model);
    const Sweep whole = worker.sweep({.begin = 0, .end = model.designs.space().size()});
    double allowed = 0.0;
    model.designs.space().enumerate(0, model.designs.space().size(),
                                    [&allowed](std::uint64_t, std::span<const int>) { allowed += 1.0; });
    const SpaceEstimate estimate = estimate_space(
        model, [] {}, 1000);
    EXPECT_EQ(estimate.branches, 1000U);
    expect_near(estimate.allowed, allowed);
    expect_near(estimate.feasible, static_cast<double>(whole.feasible.size()));
    double stands_for = 0.0;
    for (const SpaceEstimate::Plan& plan : estimate.plans) {
        stands_for += plan.stands_for;
    }
    EXPECT_NEAR(stands_for, estimate.feasible.value, 1e-9 * stands_for);

    const std::vector<Bound> front = explored_front(model, {estimate.plans.front().bound}, [] {});
    std::vector<std::vector<double>> bounds;
    for (const Bound& bound : whole.feasible) {
        bounds.push_back(bound.objectives);
    }
    for (const Bound& member : front) {  // from one plan to the best there are, or nearly
        EXPECT_LT(std::count_if(bounds.begin(), bounds.end(),
                                [&member](const std::vector<double>& other) {
                                    return dominates(other, member.objectives);
                                }),
                  0.02 * static_cast<double>(bounds.size()));
    }
}

/// What a sweep of some branches with limits leaves is what the sweep of the whole space leaves.
TEST(SpaceEstimate, AgreesWithASweepThatHasLimits)
{
    if (too_slow) {
        GTEST_SKIP() << "its seconds are too few for an instrumented program";
    }
    const Scenario scenario = tiny_scenario(many_choices);
    const StudyModel model(scenario);
    std::vector<std::vector<double>> limits;
    for (const Bound& bound : explored_front(model, {}, [] {})) {
        limits.push_back(bound.objectives);
        for (double& limit : limits.back()) {
            limit *= 1.3;
        }
    }
    const Sweep whole =
        Worker(model).sweep({.begin = 0, .end = model.designs.space().size(), .limits = limits});
    const LimitedSweep estimate = limited_sweep(
        model, limits, {}, [] {}, 800);
    EXPECT_GT(whole.feasible.size(), 100U);
    EXPECT_GT(whole.unchecked + whole.excluded, 100U);
    expect_near(estimate.plans, static_cast<double>(whole.feasible.size()));
    EXPECT_GT(estimate.sweep_s.low, 0.0);
    EXPECT_FALSE(estimate.found.empty());
}

/// Without a feasible plan in the sample only a share is reported: the rule of three,
/// where branches weigh the same.
TEST(SpaceEstimate, NeverSaysThatNothingIsFeasible)
{
    Scenario scenario = tiny_scenario(many_choices);
    scenario.memory_limit.headroom = 0.9999;
    const StudyModel model(scenario);
    const SpaceEstimate estimate = estimate_space(
        model, [] {}, 500);
    EXPECT_TRUE(estimate.plans.empty());
    EXPECT_GT(estimate.judged, 100U);
    EXPECT_GT(estimate.share_below(), 3.0 / 500.0 * 0.9);
    EXPECT_LT(estimate.share_below(), 0.1);
    EXPECT_THAT(none_found_text(estimate), HasSubstr("out of memory"));
    SpaceEstimate equal;
    equal.effective = 1000.0;
    EXPECT_NEAR(equal.share_below(), 0.003, 1e-5);
}

/// A space that takes too long to count is estimated. Stopped at once, in the sample and later, a dry run
/// keeps what it knows: the text grows. tests/cli/dry_run_test.py lets one end.
TEST(DryRun, KeepsWhatItKnowsWhenItIsStopped)
{
    const Scenario scenario = tiny_scenario(many_choices);
    std::size_t length = 0;
    for (const int last : {0, 100, 1000}) {
        int left = last;
        const DryRun found = dry_run(
            scenario,
            [&left] {
                if (left-- == 0) {
                    throw Stopped("stopped here");
                }
            },
            0.0);
        EXPECT_EQ(found.stopped, "stopped here") << last;
        EXPECT_THAT(found.text, HasSubstr("combinations of values")) << last;
        EXPECT_GE(found.text.size(), length) << last;
        length = found.text.size();
    }
}

}  // namespace
}  // namespace prismopt
