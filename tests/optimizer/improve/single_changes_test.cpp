#include "optimizer/improve/single_changes.hpp"

#include "optimizer/space/design_text.hpp"
#include "optimizer/study/study_model.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <variant>

namespace prismopt {
namespace {

std::vector<SingleChange> changes(const std::string& design, const std::string& space,
                                  const std::vector<std::string>& objectives = {"training_time_mean"})
{
    Scenario scenario = tiny_scenario(space);
    scenario.objectives = objectives;
    const ParallelPlan plan = parse_design(design, scenario);
    const StudyModel model(scenario, tables_of(scenario, {plan}));
    return single_changes(plan, scenario, model.problem);
}

/// The cluster has four nodes, of which a job on 16 GPUs takes three.
TEST(SingleChanges, NameTheirAxisAndValueAlsoWhereItIsTheDefault)
{
    const std::vector<SingleChange> found =
        changes("gpus=16 tp=2 pp=4 spares=2", "gpus = [16]\ntp = [2]\npp = [4]\nspares = [1]\n");
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().design, "spares=1");
}

/// More GPUs shorten the step, and cost more than they save.
TEST(SingleChanges, StandInTheOrderOfTheObjective)
{
    const std::string space = "gpus = [4, 8, 16]\ntp = [2]\npp = [2]\n";
    const auto gpus = [&](const std::string& objective) {
        std::vector<std::string> designs;
        for (const SingleChange& change : changes("gpus=24 tp=2 pp=2", space, {objective})) {
            designs.push_back(change.design);
        }
        return designs;
    };
    EXPECT_THAT(gpus("training_time_mean"), testing::ElementsAre("gpus=16", "gpus=8", "gpus=4"));
    EXPECT_THAT(gpus("expected_cost"), testing::ElementsAre("gpus=4", "gpus=8", "gpus=16"));
    EXPECT_THAT(gpus("gpus"), testing::ElementsAre("gpus=16", "gpus=8", "gpus=4"));  // by the training time
}

/// Only axes with one value count; what is saved is that of the plan with the other value.
TEST(HeldLevers, NameWhatTheSpaceExcludes)
{
    Scenario scenario = tiny_scenario("gpus = [16]\ntp = [1, 2]\nrecompute = [\"full\"]\n");
    scenario.levers.tp_overlap = {TensorParallelOverlap::off, TensorParallelOverlap::on};
    const ParallelPlan plan = parse_design("gpus=16 tp=2", scenario);
    ParallelPlan kept = plan;
    kept.recompute = Recompute::none;
    const StudyModel model(scenario, tables_of(scenario, {plan, kept}));
    std::map<std::string, HeldLever> levers;
    for (const HeldLever& lever : held_levers(plan, scenario, model.problem)) {
        levers[lever.axis] = lever;
    }
    EXPECT_TRUE(levers.contains("tp_overlap"));
    EXPECT_TRUE(levers.contains("pp"));
    EXPECT_FALSE(levers.contains("tp"));
    EXPECT_FALSE(levers.contains("dispatch"));  // no exchange of tokens
    ASSERT_TRUE(levers.contains("recompute"));
    EXPECT_EQ(levers["recompute"].best, "recompute=none");
    Predictor predictor(model.problem);
    const auto step_s = [&](const ParallelPlan& of) {
        return std::get<NoiseFree>(predictor.bound(of)).step_s;
    };
    EXPECT_DOUBLE_EQ(levers["recompute"].saved, 1.0 - step_s(kept) / step_s(plan));
}

/// Whatever the software offers.
TEST(HeldLevers, AreNoneOfSeveralValuesInTheSpace)
{
    const auto axes_with = [](const std::string& offload) {
        Scenario scenario = tiny_scenario("gpus = [16]\ntp = [2]\noffload = " + offload + "\n");
        scenario.levers.offload = {Offload::none, Offload::optimizer};
        const ParallelPlan plan = parse_design("gpus=16 tp=2 offload=none", scenario);
        const StudyModel model(scenario, tables_of(scenario, {plan}));
        std::set<std::string> axes;
        for (const HeldLever& lever : held_levers(plan, scenario, model.problem)) {
            axes.insert(lever.axis);
        }
        return axes;
    };
    EXPECT_TRUE(axes_with("[\"none\"]").contains("offload"));
    EXPECT_FALSE(axes_with("[\"none\", \"optimizer\"]").contains("offload"));
}

TEST(AxisText, StatesEveryAxis)
{
    ParallelPlan plan;
    plan.dp = 4;
    EXPECT_EQ(axis_text("gpus", plan), "gpus=4");
    EXPECT_EQ(axis_text("recompute", plan), "recompute=none");
    EXPECT_EQ(axis_text("spares", plan), "spares as in [reliability]");
    EXPECT_EQ(axis_text("checkpoint_interval", plan), "checkpoint_interval as in [reliability]");
    plan.spares = 1;
    plan.checkpoint_interval = Seconds{600.0};
    EXPECT_EQ(axis_text("spares", plan), "spares=1");
    EXPECT_EQ(axis_text("checkpoint_interval", plan), "checkpoint_interval=600s");
}

}  // namespace
}  // namespace prismopt
