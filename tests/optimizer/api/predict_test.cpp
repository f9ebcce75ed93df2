#include "optimizer/api/predict.hpp"

#include "model/predictor.hpp"
#include "optimizer/api/scenarios.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/study/study_model.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace prismopt {
namespace {

const Scenario& tiny_space()
{
    static const Scenario scenario =
        tiny_scenario("gpus = [4, 8]\ntp = [1, 2]\npp = [1, 2]\nmicrobatch = [1, 3]\n",
                      "rungs = [{ fleets = 64, steps = 2 }]\nconfirm = { fleets = 64, steps = 2 }");
    return scenario;
}

/// Memory does not rest on sequence parallelism where the plan has none.
TEST(Predict, AssumesSequenceParallelismOnlyOfPlansThatHaveIt)
{
    const Scenario scenario =
        tiny_scenario("gpus = [8]\ntp = [2]\nsequence_parallel = [\"on\", \"off\"]\n",
                      "rungs = [{ fleets = 64, steps = 2 }]\nconfirm = { fleets = 64, steps = 2 }");
    const auto assumes = [&scenario](const char* design) {
        PlanPredictor predictor(plan_with(scenario, design));
        std::string all;
        for (const std::string& one : predictor.predict(rung_of(scenario)).memory_assumes) {
            all += one + "; ";
        }
        return all.find("sequence parallelism") != std::string::npos;
    };
    EXPECT_TRUE(assumes("gpus=8 tp=2 sequence_parallel=on"));
    EXPECT_FALSE(assumes("gpus=8 tp=2 sequence_parallel=off"));
}

TEST(Predict, IsThePredictionOfTheModel)
{
    const ChosenPlan chosen = plan_with(tiny_space(), "gpus=8 tp=2 pp=2 mb=1");
    const Rung rung = rung_of(tiny_space());
    PlanPredictor predictor(chosen);
    const PlanPrediction of = predictor.predict(rung);
    ASSERT_FALSE(predictor.infeasible());

    const StudyModel model(tiny_space());
    Predictor by_model(model.problem);
    const SamplerOptions sampler = model.sampler({Purpose::confirm});
    const PhaseDraws draws = by_model.sample(chosen.plan, {0, rung.fleets, rung.steps}, sampler);
    const Prediction expected = by_model.summarise(chosen.plan, draws, rung.steps, sampler, Confidence{});
    EXPECT_EQ(of.prediction.step.p99.value, expected.step.p99.value);
    EXPECT_EQ(of.prediction.training.p99.value, expected.training.p99.value);
    EXPECT_EQ(predictor.draws(), draws);
    EXPECT_EQ(of.phases.size(), tiny_space().phases.size());
    EXPECT_EQ(of.stages.size(), 2U);
    EXPECT_FALSE(predictor.timeline({}, rung).empty());
    EXPECT_EQ(predictor.predict(rung).prediction.step.p99.value, of.prediction.step.p99.value);
}

TEST(Predict, IsEqualWithTablesOfTheScenario)
{
    const Scenario scenario = changed(tiny_space(), {{"space.tp", "[1]"}});
    const ScenarioPredictor predictor(scenario);
    for (const char* words :
         {"gpus=4 tp=1 pp=1 mb=1", "gpus=8 tp=2 pp=2 mb=1"}) {  // the second outside of [space]
        const PlanPrediction of = predictor.predict(words);
        EXPECT_EQ(of.prediction.step.p99.value,
                  predict(plan_with(scenario, words)).prediction.step.p99.value);
        EXPECT_LE(std::get<NoiseFree>(predictor.lower_bounds(words)).step_s, of.prediction.step.mean.value);
    }
    EXPECT_EQ(std::get<Infeasible>(predictor.lower_bounds("gpus=8 tp=2 pp=2 mb=3")).reason(),
              Reason::batch_and_replicas);
}

TEST(Predict, MovesWithItsScenario)
{
    PlanPredictor first(plan_with(tiny_space(), "gpus=4 tp=1 pp=1 mb=1"));
    const double before = first.predict(rung_of(tiny_space())).prediction.step.p99.value;
    PlanPredictor second = std::move(first);
    EXPECT_EQ(second.predict(rung_of(tiny_space())).prediction.step.p99.value, before);
}

TEST(Predict, InfeasibleIsAValueWithItsReasonAndWhatChangesIt)
{
    // 8 sequences are not divisible by 3
    const ChosenPlan chosen = plan_with(tiny_space(), "gpus=8 tp=2 pp=2 mb=3");
    const PlanPrediction of = predict(chosen);
    ASSERT_TRUE(of.prediction.infeasible);
    EXPECT_EQ(of.prediction.infeasible->reason(), Reason::batch_and_replicas);
    ASSERT_FALSE(of.changes.empty());
    EXPECT_EQ(of.changes.front().design, "microbatch=1");
    EXPECT_THROW(PlanPredictor(chosen).timeline({}, rung_of(tiny_space())), InfeasiblePlan);
    EXPECT_THROW(PlanPredictor(chosen).assign_nodes(rung_of(tiny_space())), InfeasiblePlan);
}

TEST(Plans, AreListedWithWordsThatRestoreThem)
{
    const std::vector<PlanInSpace> plans = feasible_plans(tiny_space(), 1000);
    const PlanCount count = count_plans(tiny_space());
    EXPECT_EQ(plans.size(), count.feasible);
    EXPECT_EQ(count.examined, count.combinations);
    std::uint64_t rejected = 0;
    for (const Rejected& reason : count.rejected) {
        rejected += reason.count;
    }
    EXPECT_EQ(count.feasible + rejected, count.combinations);
    std::set<std::uint64_t> numbers;
    for (const PlanInSpace& plan : plans) {
        numbers.insert(plan.number);
        EXPECT_EQ(plan_with(tiny_space(), plan.design).plan, plan.plan) << plan.design;
    }
    EXPECT_EQ(numbers.size(), plans.size());
    EXPECT_EQ(feasible_plans(tiny_space(), 2).size(), 2U);
}

TEST(Plans, CountStopsWhenItsPauseThrows)
{
    EXPECT_THROW(count_plans(tiny_space(), [] { throw Stopped("enough"); }), Stopped);
}

TEST(Plans, DrawsAreWholeBlocksWithinLimits)
{
    const Rung rung = rung_of(tiny_space(), 100);
    EXPECT_GE(rung.fleets * rung.steps, 100);
    EXPECT_EQ(rung.fleets, fleets_for(100, rung.steps));
    EXPECT_THROW(rung_of(tiny_space(), -1), InputError);
    EXPECT_THROW(rung_of(tiny_space(), most_draws + 1), InputError);
}

}  // namespace
}  // namespace prismopt
