#include "optimizer/study/run_effects.hpp"

#include "model/run/reliability.hpp"
#include "optimizer/study/study_model.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace prismopt {
namespace {

constexpr Rung draws{512, 2};

Scenario scenario() { return tiny_scenario("gpus = [12]\ntp = [2]\nmicrobatch = [1]\n"); }

struct Studied {
    explicit Studied(Scenario of) : scenario(std::move(of)), model(scenario)
    {
        const ParallelPlan plan = model.designs.plan(model.designs.space().point(0));
        study = run_effects(model.problem, plan, draws, model.sampler({Purpose::confirm}));
        Predictor predictor(model.problem);
        const SamplerOptions sampler = model.sampler({Purpose::confirm});
        prediction =
            predictor.summarise(plan, predictor.sample(plan, {0, draws.fleets, draws.steps}, sampler),
                                draws.steps, sampler, Confidence{});
    }
    Scenario scenario;
    StudyModel model;
    RunEffects study;
    Prediction prediction;
};

const RunFigures& effect(const RunEffects& study, const std::string& name)
{
    const auto found = std::find_if(study.effects.begin(), study.effects.end(),
                                    [&](const RunEffect& e) { return e.name == name; });
    EXPECT_NE(found, study.effects.end()) << name;
    return found->run;
}

const RunCurvePoint& at(const std::vector<RunCurvePoint>& curve, double where)
{
    return *std::min_element(curve.begin(), curve.end(),
                             [where](const RunCurvePoint& a, const RunCurvePoint& b) {
                                 return std::abs(a.at - where) < std::abs(b.at - where);
                             });
}

/// Many failures, so that they show in a run of an hour.
Scenario failing(int spares)
{
    Scenario scenario = prismopt::scenario();
    Cause cause;
    cause.name = "board";
    cause.rate = PerSecond{1.0 / 1500.0 / 4.0};
    cause.detection = Seconds{10.0};
    cause.restart = Seconds{60.0};
    cause.repair = Seconds{1800.0};
    scenario.reliability.causes = {cause};
    scenario.reliability.spares = spares;
    return scenario;
}

TEST(RunEffects, BeginsAtThePlanItself)
{
    const Studied studied(scenario());
    EXPECT_EQ(studied.study.plan.training_p99.value, studied.prediction.training.p99.value);
    EXPECT_EQ(studied.study.plan.cost_usd, studied.prediction.cost_usd.value);
    EXPECT_EQ(studied.study.draws, studied.prediction.draws);
    EXPECT_EQ(studied.study.interval_s, 60.0);
    EXPECT_EQ(at(studied.study.interval, 60.0).at, 60.0);
    EXPECT_EQ(at(studied.study.interval, 60.0).run.training_p99.value, studied.study.plan.training_p99.value);
    EXPECT_TRUE(studied.study.spares.empty());
    EXPECT_FALSE(studied.study.spares_note.empty());
}

TEST(RunEffects, ChangesTimesTheRightWay)
{
    const Studied studied(failing(1));
    const RunEffects& study = studied.study;
    const double p99 = study.plan.training_p99.value;
    EXPECT_LT(effect(study, "no failures").training_p99.value,
              effect(study, "half as many failures").training_p99.value);
    EXPECT_LT(effect(study, "half as many failures").training_p99.value, p99);
    EXPECT_GT(effect(study, "twice as many failures").training_p99.value, p99);
    EXPECT_LT(effect(study, "detection and restarts twice as fast").training_p99.value, p99);
    EXPECT_GT(effect(study, "detection and restarts half as fast").training_p99.value, p99);
    EXPECT_LT(effect(study, "checkpoints that take no time").training_p99.value, p99);
    EXPECT_GT(effect(study, "no spare nodes").training_p99.value, p99);
    EXPECT_LT(effect(study, "one more spare node").training_p99.value, p99);
}

/// Where hardly anything fails; else which failure hits which checkpoint may outweigh it.
/// Held spares cost their share of the whole run: without failures they do not pay, with many they do.
TEST(RunEffects, SparesPayFromSomeFailureRateOn)
{
    Scenario scenario = failing(1);
    scenario.reliability.causes.front().repair = Seconds{7200.0};
    scenario.reliability.causes.front().rate = PerSecond{1.0 / 1500.0 / 64.0};
    const Studied studied(scenario);
    ASSERT_EQ(studied.study.break_even.size(), 1U) << "without a time of a switch there is no other way";
    const BreakEven& none = studied.study.break_even.front();
    EXPECT_EQ(none.other, "a restart at each failure, and no spare nodes");
    EXPECT_FALSE(none.less_above);
    ASSERT_TRUE(std::isfinite(none.factor));
    const auto cost = [&](double factor, int spares) {
        Scenario changed = scenario;
        changed.reliability.causes.front().rate =
            PerSecond{factor * none.factor * scenario.reliability.causes.front().rate.si};
        changed.reliability.node_failure_rate =
            PerSecond{factor * none.factor * scenario.reliability.node_failure_rate.si};
        changed.reliability.spares = spares;
        changed.reliability.checkpoint_interval = Seconds{studied.study.interval_s};
        changed.space.spares = {spares};
        return Studied(changed).study.plan.cost_usd;
    };
    EXPECT_GT(cost(0.5, 1), cost(0.5, 0));
    EXPECT_LT(cost(2.0, 1), cost(2.0, 0));
}

TEST(RunEffects, WithoutJitterTheTailIsShorter)
{
    const RunEffects study = Studied(scenario()).study;
    EXPECT_LT(effect(study, "every step takes its mean time").training_p99.value,
              study.plan.training_p99.value);
}

TEST(RunEffects, CurvesOfSparesFallAndEnd)
{
    const RunEffects study = Studied(failing(1)).study;
    EXPECT_EQ(study.spare_nodes, 1);
    ASSERT_GE(study.spares.size(), 3U);
    EXPECT_EQ(study.spares.front().at, 0.0);
    EXPECT_EQ(at(study.spares, 1.0).run.training_p99.value, study.plan.training_p99.value);
    for (std::size_t i = 1; i < study.spares.size(); ++i) {
        EXPECT_LE(study.spares[i].run.training_p99.value,
                  study.spares[i - 1].run.training_p99.value * (1.0 + 1e-9));
    }
}

TEST(RunEffects, CurvesOfIntervalsHaveAMinimumInside)
{
    Scenario longer = failing(enough_spares);  // so that several of a hundred runs have more than one failure
    for (Phase& phase : longer.phases) {
        phase.tokens *= 4.0;
    }
    const RunEffects study = Studied(longer).study;
    ASSERT_GE(study.interval.size(), 8U);
    const auto least =
        std::min_element(study.interval.begin(), study.interval.end(), [](const auto& a, const auto& b) {
            return a.run.training_p99.value < b.run.training_p99.value;
        });
    EXPECT_NE(least, study.interval.begin());
    EXPECT_NE(least, study.interval.end() - 1);
    EXPECT_EQ(study.spare_nodes, enough_spares);
}

}  // namespace
}  // namespace prismopt
