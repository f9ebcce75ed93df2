#include "optimizer/improve/near_plans.hpp"

#include "model/plan_rules.hpp"
#include "optimizer/improve/axis_changes.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <variant>

namespace prismopt {
namespace {

const std::string small_space =
    "gpus = [16]\ntp = [1, 2]\npp = [1, 2]\nmicrobatch = [1, 2]\nrecompute = [\"none\", \"full\"]\n"
    "sharding = [\"none\", \"zero1\"]\ndp_overlap = [\"on\", \"off\"]\n";

/// Software that offers nothing but the space's values, so that all combinations can be listed.
Scenario closed_scenario(const std::string& space)
{
    Scenario scenario = tiny_scenario(space);
    scenario.objectives = {"training_time_mean"};
    scenario.levers = scenario.space;
    return scenario;
}

NearPlans near(const Scenario& scenario, const std::string& design, const NearPlansRequest& request)
{
    const ParallelPlan plan = parse_design(design, scenario);
    const StudyModel model(scenario, tables_of(scenario, {plan}));
    return near_plans(plan, scenario, model.problem, request);
}

int axes_between(const ParallelPlan& a, const ParallelPlan& b)
{
    return static_cast<int>(changed_values(a, b).size());
}

/// All plans of the space within three changes: value of each, and whether every way to
/// undo some of its changes is worse.
TEST(NearPlans, AreTheBestOfAllCombinations)
{
    const Scenario scenario = closed_scenario(small_space);
    const SpaceSettings& space = scenario.space;
    const ParallelPlan start =
        parse_design("gpus=16 tp=1 pp=2 microbatch=1 recompute=full sharding=none dp_overlap=off", scenario);
    std::vector<ParallelPlan> plans;
    for (const int tp : space.tp) {
        for (const int pp : space.pp) {
            for (const int microbatch : space.microbatch) {
                for (const Recompute recompute : space.recompute) {
                    for (const Sharding sharding : space.sharding) {
                        for (const DataParallelOverlap overlap : space.dp_overlap) {
                            ParallelPlan plan = start;
                            plan.tp = tp;
                            plan.pp = pp;
                            plan.dp = 16 / tp / pp;
                            plan.microbatch = microbatch;
                            plan.recompute = recompute;
                            plan.sharding = sharding;
                            plan.dp_overlap = overlap;
                            plans.push_back(plan);
                        }
                    }
                }
            }
        }
    }
    const StudyModel model(scenario, tables_of(scenario, plans));
    Predictor predictor(model.problem);
    std::map<ParallelPlan, double> values;
    for (const ParallelPlan& plan : plans) {
        const auto bound = structural_problem(plan, model.problem)
                               ? std::variant<NoiseFree, Infeasible>(Infeasible{})
                               : predictor.bound(plan);
        if (const auto* feasible = std::get_if<NoiseFree>(&bound)) {
            values[plan] = feasible->training_s;
        }
    }
    const auto undone_is_worse = [&](const ParallelPlan& plan, double value) {
        for (const auto& [other, of_other] : values) {
            const bool on_the_way =
                axes_between(start, other) + axes_between(other, plan) == axes_between(start, plan) &&
                !(other == plan);
            if (on_the_way && of_other <= value) {
                return false;
            }
        }
        return true;
    };
    std::map<int, std::multimap<double, ParallelPlan>> expected;  // [changes]
    for (const auto& [plan, value] : values) {
        const int changes = axes_between(start, plan);
        if (changes >= 1 && changes <= 3 && undone_is_worse(plan, value)) {
            expected[changes].emplace(value, plan);
        }
    }
    ASSERT_FALSE(expected[3].empty());
    const NearPlans found =
        near(scenario, design_text(start, space), {.most_changes = 3, .most = 4, .least_gain = 0.0});
    EXPECT_TRUE(found.complete);
    EXPECT_TRUE(found.start_fits);
    for (const int changes : {1, 2, 3}) {
        std::vector<double> own;
        for (const NearPlan& plan : found.plans) {
            if (plan.axes == changes) {
                own.push_back(plan.value);
                EXPECT_TRUE(plan.in_space);
                EXPECT_EQ(plan.changes.size(), static_cast<std::size_t>(changes));
            }
        }
        std::vector<double> best;
        for (const auto& [value, plan] : expected[changes]) {
            if (best.size() < 4) {
                best.push_back(value);
            }
        }
        // What is worse than four plans with fewer changes may be omitted.
        ASSERT_LE(own.size(), best.size());
        ASSERT_FALSE(own.empty());
        best.resize(own.size());
        EXPECT_THAT(own, testing::Pointwise(testing::DoubleEq(), best)) << changes;
    }
}

TEST(NearPlans, CountAScheduleWithItsChunksAsOneChange)
{
    Scenario scenario = closed_scenario("gpus = [8]\npp = [2]\n");
    scenario.levers.schedule = {Schedule::one_f_one_b, Schedule::interleaved};
    // it need not be faster
    const NearPlans found = near(scenario, "gpus=8 pp=2", {.most_changes = 1, .least_gain = -10.0});
    ASSERT_EQ(found.plans.size(), 1U);
    EXPECT_THAT(found.plans.front().changes, testing::UnorderedElementsAre("schedule=interleaved", "v=2"));
    EXPECT_EQ(found.plans.front().axes, 1);
    EXPECT_FALSE(found.plans.front().in_space);
}

/// A plan whose single changes do not fit either.
TEST(NearPlans, CombineChangesThatDoNotFitAlone)
{
    Scenario scenario = closed_scenario(
        "gpus = [8]\ntp = [1, 2]\nrecompute = [\"none\", \"full\"]\nsharding = [\"none\", \"zero1\"]\n");
    const ParallelPlan start = parse_design("gpus=8 tp=1 recompute=none sharding=none", scenario);
    const auto bytes = [&](const ParallelPlan& plan) {
        const StudyModel model(scenario, tables_of(scenario, {plan}));
        Predictor predictor(model.problem);
        return std::get<NoiseFree>(predictor.bound(plan)).memory_bytes;
    };
    double least_single = std::numeric_limits<double>::infinity();
    for (const NearPlan& one :
         near(scenario, design_text(start, scenario.space), {.most_changes = 1, .least_gain = -10.0}).plans) {
        least_single = std::min(least_single, one.bound.memory_bytes);
    }
    ParallelPlan all = start;
    all.tp = 2;
    all.dp = 4;
    all.recompute = Recompute::full;
    ASSERT_LT(bytes(all), least_single);
    scenario.memory_limit = with_probability(MemoryLimit{}, 0.5);
    scenario.cluster.accelerator.memory = Bytes{0.5 * (bytes(all) + least_single)};
    const NearPlans found = near(scenario, design_text(start, scenario.space), {.most_changes = 3});
    ASSERT_TRUE(found.start.has_value());
    EXPECT_FALSE(found.start_fits);
    ASSERT_FALSE(found.plans.empty());
    for (const NearPlan& plan : found.plans) {
        EXPECT_GE(plan.axes, 2);
        EXPECT_LE(plan.bound.memory_bytes, scenario.cluster.accelerator.memory.si);
    }
}

TEST(NearPlans, StopAfterSomeBounds)
{
    const NearPlans found =
        near(closed_scenario(small_space), "gpus=16 tp=1 pp=2 microbatch=1 recompute=full sharding=none",
             {.most_changes = 3, .most_bounds = 3});
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(found.bounds, 3U);
}

/// The batch and the number of GPUs stay as they are.
TEST(NearPlans, KeepTheGpus)
{
    Scenario scenario = tiny_scenario("gpus = [8, 16]\ntp = [1, 2]\n");
    for (const NearPlan& plan : near(scenario, "gpus=16 tp=2", {.most_changes = 2}).plans) {
        EXPECT_EQ(plan.plan.gpus(), 16) << testing::PrintToString(plan.changes);
    }
}

/// Numbers of recomputed layers of the plans near one that recomputes two.
std::set<int> recomputed_layers_near(const Scenario& scenario)
{
    std::set<int> layers;
    const NearPlans found =
        near(scenario, "gpus=16 tp=2 pp=1 microbatch=1 recompute=full recomputed_layers=2 sharding=zero2",
             {.most_changes = 2, .most = 20});
    for (const NearPlan& plan : found.plans) {
        layers.insert(plan.plan.recomputed_layers);
    }
    return layers;
}

/// torchtitan runs the plan, although no export writes two recomputed layers; another number is not proposed.
TEST(NearPlans, HaveNoOtherValueThatTheTrainerRefuses)
{
    Scenario scenario = closed_scenario(
        "gpus = [16]\ntp = [1, 2]\npp = [1]\nmicrobatch = [1, 2]\nrecompute = [\"full\"]\n"
        "recomputed_layers = [0, 1, 2, 3]\nsharding = [\"zero2\"]\n");
    EXPECT_TRUE(recomputed_layers_near(scenario).contains(1));
    scenario.search.runnable_by = "torchtitan";
    const std::set<int> layers = recomputed_layers_near(scenario);
    EXPECT_FALSE(layers.contains(1));
    EXPECT_FALSE(layers.contains(3));
}

}  // namespace
}  // namespace prismopt
