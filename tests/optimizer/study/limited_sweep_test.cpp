/// Sweeps with limits against sweeps without: what limits exclude, and what they must not.

#include "model/plan/plan_axes.hpp"
#include "optimizer/space/stand_ins.hpp"
#include "optimizer/study/worker.hpp"
#include "search/archive.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace prismopt {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Bounds = std::map<std::uint64_t, std::vector<double>>;

Bounds bounds_of(const Sweep& sweep)
{
    Bounds all;
    for (const Bound& bound : sweep.feasible) {
        all[bound.index] = bound.objectives;
    }
    return all;
}

void expect_equal(const Bounds& found, const Bounds& expected)
{
    for (const auto& [index, bound] : expected) {
        const auto same = found.find(index);
        ASSERT_TRUE(same != found.end()) << index << " is lost";
        EXPECT_EQ(same->second, bound) << index;
    }
    EXPECT_EQ(found.size(), expected.size());
}

/// A space with several choices of all axes behind those that sub-spaces set.
Scenario scenario_of(std::size_t phases, const std::vector<std::string>& objectives,
                     const std::string& more = "")
{
    Scenario scenario = tiny_scenario(R"(gpus = [4, 8, 24]
tp = [1, 2]
pp = [1, 2, 4]
schedule = ["1f1b", "zb_h1"]
recompute = ["none", "full"]
recomputed_layers = [0, 1]
sharding = ["none", "zero1", "zero3"]
dp_overlap = ["on", "off"]
tp_overlap = ["off", "on"]
offload = ["none", "activations", "optimizer"]
post_validation = ["off", "on"]
checkpoint_interval = ["1 min", "1 h"]
spares = [1, 2]
)",
                                      more);
    scenario.phases.resize(phases);
    scenario.objectives = objectives;
    return scenario;
}

/// The bounds that no other bound is better than in all objectives: the limits that a finished search has.
std::vector<std::vector<double>> front_of(const Bounds& bounds)
{
    std::vector<std::vector<double>> front;
    for (const auto& [index, bound] : bounds) {
        if (excludes(front, bound)) {
            continue;
        }
        const std::vector<std::vector<double>> newest{bound};
        std::erase_if(front, [&](const std::vector<double>& former) { return excludes(newest, former); });
        front.push_back(bound);
    }
    return front;
}

/// Sweeps the space with `limits`: a plan is returned if and only if no limit excludes its tightest bound,
/// with that bound; each raw tuple counts once.
Sweep expect_what_limits_leave(const StudyModel& model, Worker& worker, const Bounds& whole,
                               const std::vector<std::vector<double>>& limits)
{
    const std::uint64_t size = model.designs.space().size();
    Bounds expected;
    for (const auto& [index, bound] : whole) {
        if (!excludes(limits, bound)) {
            expected[index] = bound;
        }
    }
    Sweep sweep = worker.sweep({.begin = 0, .end = size, .keep = size, .limits = limits});
    expect_equal(bounds_of(sweep), expected);
    const std::uint64_t rejected =
        std::accumulate(sweep.rejected.begin(), sweep.rejected.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const Rejected& reason) { return sum + reason.count; });
    EXPECT_EQ(sweep.feasible.size() + sweep.excluded + sweep.unreturned + sweep.unchecked + rejected, size);
    EXPECT_EQ(sweep.unchecked, sweep.excluded_by[0] + sweep.excluded_by[1]);
    EXPECT_EQ(sweep.excluded, sweep.excluded_by[2] + sweep.excluded_by[3]);
    return sweep;
}

/// Four plans, one after another, and then the front as limits; the front excludes at least `share` times as
/// many combinations as there are feasible plans before it looks at their plans (0.48 where memory counts).
void expect_the_same_as_without_limits(const Scenario& scenario, double share = 0.4)
{
    const StudyModel model(scenario);
    Worker worker(model);
    const std::uint64_t size = model.designs.space().size();
    // A limit that excludes nothing makes all bounds as tight as they can be.
    const std::vector<std::vector<double>> none{std::vector<double>(model.objectives.size(), infinity)};
    const Bounds whole = bounds_of(worker.sweep({.begin = 0, .end = size, .keep = size, .limits = none}));
    ASSERT_GT(whole.size(), 100U);
    std::uint64_t number = 0;
    for (const auto& [index, limit] : whole) {
        if (number++ % (whole.size() / 4) == 0) {
            SCOPED_TRACE(index);
            expect_what_limits_leave(model, worker, whole, {limit});
        }
    }
    const Sweep sweep = expect_what_limits_leave(model, worker, whole, front_of(whole));
    EXPECT_GT(sweep.excluded, 0U);
    EXPECT_GT(static_cast<double>(sweep.unchecked), share * static_cast<double>(whole.size()))
        << "sub-spaces are excluded as a whole";
}

void expect_equal_counts(const Sweep& counted, const Sweep& bounded)
{
    EXPECT_EQ(counted.feasible.size() + counted.excluded, bounded.feasible.size() + bounded.excluded);
    EXPECT_EQ(counted.unchecked, 0U);
    EXPECT_EQ(counted.rejected.size(), bounded.rejected.size());
    for (std::size_t k = 0; k < std::min(counted.rejected.size(), bounded.rejected.size()); ++k) {
        EXPECT_EQ(counted.rejected[k].reason, bounded.rejected[k].reason);
        EXPECT_EQ(counted.rejected[k].count, bounded.rejected[k].count) << counted.rejected[k].reason;
        EXPECT_EQ(counted.rejected[k].miss, bounded.rejected[k].miss) << counted.rejected[k].reason;
        EXPECT_EQ(counted.rejected[k].nearest, bounded.rejected[k].nearest);
    }
}

/// Counts without bounds are those of bounds: feasible plans, and the reasons of the others with their
/// closest plans. Returns the number of feasible plans.
std::uint64_t expect_the_same_counts(const Scenario& scenario)
{
    const StudyModel model(scenario);
    Worker worker(model);
    const SweepRange whole{.begin = 0, .end = model.designs.space().size()};
    const Sweep bounded = worker.sweep({.begin = whole.begin, .end = whole.end, .within_limits = false});
    const Sweep counted = worker.count(whole);
    EXPECT_TRUE(counted.feasible.empty());
    expect_equal_counts(counted, bounded);
    expect_equal_counts(worker.bound_all(whole), bounded);
    return counted.excluded;
}

TEST(CountedRange, HasTheCountsOfBounds)
{
    EXPECT_GT(expect_the_same_counts(scenario_of(1, {"training_time_p99"})), 100U);
    EXPECT_GT(expect_the_same_counts(scenario_of(2, {"training_time_p99", "memory"})), 100U);
}

/// The more often nodes fail, the fewer plans end.
TEST(CountedRange, HasTheCountsOfBoundsWhereRunsHardlyEnd)
{
    Scenario scenario = scenario_of(1, {"training_time_p99"});
    const std::uint64_t all = expect_the_same_counts(scenario);
    bool some_end = false;
    for (const double between_s : {3000.0, 1000.0, 300.0, 100.0, 30.0}) {
        scenario.reliability.node_failure_rate = PerSecond{1.0 / between_s};
        const std::uint64_t end = expect_the_same_counts(scenario);
        some_end = some_end || (end > 0 && end < all);
    }
    EXPECT_TRUE(some_end);
}

TEST(CountedRange, HasTheCountsOfBoundsOfBalancedLayersAndUnderALimit)
{
    Scenario balanced = scenario_of(1, {"training_time_p99"});
    balanced.space.split = {LayerSplit::layers, LayerSplit::balanced};
    EXPECT_GT(expect_the_same_counts(balanced), 100U);
    Scenario limited = scenario_of(1, {"cost"});
    limited.question = Question{.gpus_at_most = 8};
    ASSERT_TRUE(StudyModel(limited).is_limited());
    EXPECT_GT(expect_the_same_counts(limited), 100U);
}

/// A limit that some plans keep, and one that none keeps.
TEST(CountedRange, HasTheCountsOfBoundsWhateverTheQuestion)
{
    Scenario scenario = scenario_of(1, {"training_time_p99"});
    const std::uint64_t all = expect_the_same_counts(scenario);
    for (const double budget_usd : {4.0, 1e-3}) {
        scenario.question = Question{.budget_usd = budget_usd};
        EXPECT_EQ(expect_the_same_counts(scenario), all) << budget_usd;
    }
}

/// The plans that a sweep within the limits returns, with their bounds.
TEST(BoundedRange, ReturnsWhatTheQuestionLeaves)
{
    Scenario scenario = scenario_of(1, {"cost"});
    std::vector<double> costs;
    {
        const StudyModel model(scenario);
        for (const Bound& bound :
             Worker(model).sweep({.begin = 0, .end = model.designs.space().size()}).feasible) {
            costs.push_back(bound.objectives.front());
        }
    }
    ASSERT_GT(costs.size(), 100U);
    std::nth_element(costs.begin(), costs.begin() + std::ssize(costs) / 2, costs.end());
    scenario.question = Question{.budget_usd = costs[costs.size() / 2]};
    const StudyModel model(scenario);
    Worker worker(model);
    const SweepRange whole{.begin = 0, .end = model.designs.space().size()};
    const Sweep all = worker.bound_all(whole);
    expect_equal(bounds_of(all), bounds_of(worker.sweep(whole)));
    EXPECT_EQ(all.feasible.size() + all.excluded, costs.size());
    EXPECT_GT(all.excluded, costs.size() / 4);
}

/// A GPU in a thousand is a hundred times slower: no noise-free step is near the slowest one.
TEST(CountedRange, HasTheCountsOfBoundsWithARareSlowMode)
{
    Scenario scenario = scenario_of(1, {"training_time_p99"});
    scenario.variability.gpu.slow = {.probability = 0.001, .excess = 100.0};
    for (const double between_s : {3000.0, 1000.0, 300.0}) {
        scenario.reliability.node_failure_rate = PerSecond{1.0 / between_s};
        expect_the_same_counts(scenario);
    }
}

TEST(LimitedSweep, LosesNothingInOnePhase)
{
    expect_the_same_as_without_limits(scenario_of(1, {"training_time_p99", "cost", "gpus"}));
}

TEST(LimitedSweep, LosesNothingWhereMemoryCounts)
{
    expect_the_same_as_without_limits(scenario_of(1, {"training_time_p99", "memory"}));
}

/// Smaller groups hold more of the parameters, and send less far.
TEST(LimitedSweep, LosesNothingOfHybridSharding)
{
    Scenario scenario = scenario_of(1, {"training_time_p99", "memory"});
    scenario.space.shard_gpus = {4, 0, 2};
    scenario.space.post_validation = {PostValidation::off};
    scenario.space.tp_overlap = {TensorParallelOverlap::off};
    expect_the_same_as_without_limits(scenario, 0.2);
}

TEST(LimitedSweep, LosesNothingInTwoPhases)
{
    expect_the_same_as_without_limits(scenario_of(2, {"training_time_mean", "gpus"}));
}

TEST(LimitedSweep, LosesNothingOnSeveralKindsOfHardware)
{
    expect_the_same_as_without_limits(scenario_of(
        1, {"step_time_mean", "gpus"},
        "[[knob]]\nof = \"bandwidth\"\ntier = \"cluster\"\nvalues = [\"5 GB/s\", \"50 GB/s\"]\n"));
}

/// What is said of plans that lack memory: how close the closest one is, and which.
const Rejected* closest_to_memory(const Sweep& sweep)
{
    const auto found =
        std::find_if(sweep.rejected.begin(), sweep.rejected.end(), [](const Rejected& rejected) {
            return rejected.reason == category(Reason::out_of_memory, 1);
        });
    return found == sweep.rejected.end() ? nullptr : &*found;
}

/// A fifth of the plans fit into this memory.
Scenario scenario_of_little_memory()
{
    Scenario scenario = scenario_of(1, {"training_time_p99", "cost", "gpus"});
    scenario.cluster.accelerator.memory.si = 3.7e9;
    // The plans that fit update on hosts, which the bounds of sub-spaces omit: slow ones exclude none.
    scenario.cluster.accelerator.host_memory_bandwidth =
        2.0 * scenario.cluster.accelerator.host_memory_bandwidth;
    return scenario;
}

TEST(LimitedSweep, LosesNothingWhereMostPlansLackMemory)
{
    expect_the_same_as_without_limits(scenario_of_little_memory(), 0.01);
}

void expect_the_same_closest_to_memory(Scenario scenario, double memory_bytes)
{
    scenario.cluster.accelerator.memory.si = memory_bytes;
    const StudyModel model(scenario);
    Worker worker(model);
    const std::uint64_t size = model.designs.space().size();
    const std::vector<std::vector<double>> none{std::vector<double>(model.objectives.size(), infinity)};
    const Sweep all = worker.sweep({.begin = 0, .end = size, .keep = size});
    const Sweep limited = worker.sweep({.begin = 0, .end = size, .keep = size, .limits = none});
    const Rejected* expected = closest_to_memory(all);
    const Rejected* found = closest_to_memory(limited);
    ASSERT_TRUE(expected != nullptr && found != nullptr) << memory_bytes;
    EXPECT_GT(expected->miss, 0.0) << memory_bytes;
    EXPECT_EQ(found->miss, expected->miss) << memory_bytes;
    EXPECT_EQ(found->nearest, expected->nearest) << memory_bytes;
}

/// Plans are refused by lower bounds of their memory, but not the closest one.
TEST(LimitedSweep, KeepsTheClosestPlanThatLacksMemory)
{
    for (const double memory_bytes : {3.7e9, 3.8e9, 3.9e9, 4.1e9}) {
        expect_the_same_closest_to_memory(scenario_of_little_memory(), memory_bytes);
    }
}

/// So are all plans of one sharding. At these sizes those with more sharding fit, and of the others the
/// closest has "zero1", "none" or "none"; with offload, plans of each sharding would fit.
TEST(LimitedSweep, KeepsTheClosestPlanOfOneSharding)
{
    Scenario scenario = scenario_of_little_memory();
    scenario.space.offload.resize(1);
    for (const double memory_bytes : {3.756e9, 4.027e9, 4.19e9}) {
        expect_the_same_closest_to_memory(scenario, memory_bytes);
    }
}

/// 12 choices of overlap, offload and post-validation, and 4 of checkpoints and spares; with 40 intervals 80.
TEST(StandIns, AreUsedWhereTheyAreFew)
{
    Scenario scenario = scenario_of(1, {"training_time_p99"});
    const DesignMap few(scenario);
    StandIns stand_ins(few, place_of(&ParallelPlan::recomputed_layers));
    EXPECT_TRUE(stand_ins.few());
    stand_ins.set(Point(stand_ins.depth(), 0));
    EXPECT_EQ(stand_ins.steps().size(), 12U);
    EXPECT_EQ(stand_ins.memory().size(), 3U) << "offload";
    EXPECT_EQ(stand_ins.runs().size(), 4U);
    scenario.space.checkpoint_interval.clear();
    for (int minutes = 1; minutes <= 40; ++minutes) {
        scenario.space.checkpoint_interval.push_back(Seconds{60.0 * minutes});
    }
    const DesignMap many(scenario);
    EXPECT_FALSE(StandIns(many, place_of(&ParallelPlan::recomputed_layers)).few());
    // 3 of offload and, behind the sharding, 2 * 2 * 3 * 2 * 2 * 2 combinations; without all but offload 3.
    EXPECT_TRUE(StandIns(few, place_of(&ParallelPlan::sharding)).few_of_memory());
    Scenario narrow = scenario_of(1, {"training_time_p99"});
    narrow.space.dp_overlap.resize(1);
    narrow.space.tp_overlap.resize(1);
    narrow.space.post_validation.resize(1);
    narrow.space.checkpoint_interval.resize(1);
    narrow.space.spares.resize(1);
    const DesignMap without(narrow);
    EXPECT_FALSE(StandIns(without, place_of(&ParallelPlan::sharding)).few_of_memory());
}

}  // namespace
}  // namespace prismopt
