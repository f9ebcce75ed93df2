#include "model/objective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace prismopt {
namespace {

/// A prediction whose times all lie at or above the bound's.
Prediction prediction()
{
    Prediction p;
    p.gpus = 64;
    p.step = {Estimate::exact(2.0), Estimate::exact(1.9), Estimate::exact(2.2), Estimate::exact(2.5), {}};
    p.training = {Estimate::exact(7200.0),
                  Estimate::exact(7000.0),
                  Estimate::exact(9000.0),
                  Estimate::exact(10800.0),
                  {}};
    p.cost_usd = Estimate::exact(300.0);
    p.expected_cost_usd = Estimate::exact(200.0);
    p.memory.parameters = Bytes{5e9};
    p.memory.activations = Bytes{7e9};
    p.ettr = 0.9;
    p.promised = Estimate::exact(9500.0);
    p.run.power_w = 6e4;
    p.run.cluster_power_w = 9e4;
    p.run.energy_j = Estimate::exact(5e9);
    p.run.carbon_kg = Estimate::exact(600.0);
    p.run.miss_probability = Estimate::exact(0.25);
    return p;
}

NoiseFree bound_of_it()
{
    NoiseFree bound{1.8, 6500.0, 180.0, 12e9, 64.0, 4e9, 500.0, 6600.0, 6700.0, 190.0};
    bound.promised_s = 6500.0;
    bound.power_w = 6e4;
    bound.cluster_power_w = 9e4;
    bound.held_gpus = 64.0;
    return bound;
}

double value(std::string_view name)
{
    const Objective* objective = find_objective(name);
    return objective == nullptr ? -1.0 : objective->value(prediction()).value;
}

TEST(Objectives, AreFoundByTheirNames)
{
    std::set<std::string_view> names;
    for (const Objective& objective : objectives()) {
        names.insert(objective.name);
        EXPECT_EQ(find_objective(objective.name), &objective);
        EXPECT_FALSE(objective.units.empty()) << objective.name;
        EXPECT_FALSE(objective.long_name.empty()) << objective.name;
    }
    EXPECT_EQ(names.size(), objectives().size());
    EXPECT_EQ(find_objective("speed"), nullptr);
}

TEST(Objectives, ShowTheirValueOfAPrediction)
{
    EXPECT_EQ(value("training_time_p99"), 10800.0);
    EXPECT_EQ(value("training_time_p95"), 9000.0);
    EXPECT_EQ(value("training_time_p50"), 7000.0);
    EXPECT_EQ(value("training_time_mean"), 7200.0);
    EXPECT_EQ(value("step_time_p99"), 2.5);
    EXPECT_EQ(value("step_time_p95"), 2.2);
    EXPECT_EQ(value("step_time_p50"), 1.9);
    EXPECT_EQ(value("step_time_mean"), 2.0);
    EXPECT_EQ(value("cost"), 300.0);
    EXPECT_EQ(value("expected_cost"), 200.0);
    EXPECT_DOUBLE_EQ(value("gpu_hours"), 64.0 * 2.0);
    EXPECT_EQ(value("memory"), 12e9);
    EXPECT_EQ(value("gpus"), 64.0);
    EXPECT_EQ(value("energy"), 5e9);
    EXPECT_EQ(value("carbon"), 600.0);
    EXPECT_EQ(value("miss_probability"), 0.25);
    EXPECT_EQ(value("promised_time"), 9500.0);
    EXPECT_EQ(value("power"), 6e4);
    EXPECT_EQ(value("cluster_power"), 9e4);
    EXPECT_DOUBLE_EQ(value("lost_share"), 0.1);
    EXPECT_DOUBLE_EQ(value("training_time_tail"), 10800.0 / 7000.0);
    EXPECT_DOUBLE_EQ(value("step_time_tail"), 2.5 / 1.9);
}

TEST(Objectives, BoundsLieBelowValues)
{
    const NoiseFree bound = bound_of_it();
    for (const Objective& objective : objectives()) {
        if (objective.bound != nullptr) {
            EXPECT_LE(objective.bound(bound), objective.value(prediction()).value) << objective.name;
            // They are also near.
            EXPECT_GT(objective.bound(bound), 0.5 * objective.value(prediction()).value) << objective.name;
        }
    }
}

/// A run of twice as many steps, each of the same time; or of steps that take twice as long.
Prediction longer_run(double factor_of_step)
{
    Prediction p = prediction();
    for (Estimate TimeDistribution::*of :
         {&TimeDistribution::mean, &TimeDistribution::p50, &TimeDistribution::p95, &TimeDistribution::p99}) {
        p.training.*of = 2.0 * (p.training.*of);
        p.step.*of = factor_of_step * (p.step.*of);
    }
    for (Estimate* of : {&p.cost_usd, &p.expected_cost_usd, &p.run.energy_j, &p.run.carbon_kg, &p.promised}) {
        *of = 2.0 * *of;
    }
    return p;
}

TEST(Objectives, ScaleAsTheirRowsSay)
{
    const Prediction more_steps = longer_run(1.0);
    const Prediction longer_steps = longer_run(2.0);
    for (const Objective& objective : objectives()) {
        const double before = objective.value(prediction()).value;
        const bool of_step = objective.scales != ScalesWith::nothing;
        const bool of_run = objective.scales == ScalesWith::run;
        EXPECT_DOUBLE_EQ(objective.value(longer_steps).value / before, of_step ? 2.0 : 1.0) << objective.name;
        EXPECT_DOUBLE_EQ(objective.value(more_steps).value / before, of_run ? 2.0 : 1.0) << objective.name;
        EXPECT_EQ(follows_step(objective.name), of_step);
        EXPECT_EQ(follows_tokens(objective.name), of_run);
    }
    EXPECT_FALSE(follows_step("speed"));
    EXPECT_FALSE(follows_tokens("speed"));
}

TEST(Objectives, AreAlsoQuantilesOfAnyPercent)
{
    const Objective* objective = find_objective("training_time_p90");
    ASSERT_NE(objective, nullptr);
    EXPECT_EQ(objective->name, "training_time_p90");
    EXPECT_EQ(objective->long_name, "90th percentile of the training time");
    EXPECT_EQ(objective->percent, 90);
    EXPECT_EQ(objective->quantile, 0.9);
    EXPECT_TRUE(follows_tokens("training_time_p90"));
    EXPECT_FALSE(follows_tokens("step_time_p90"));
    EXPECT_TRUE(std::isnan(value("training_time_p90"))) << "nobody asked for it";
    Prediction asked = prediction();
    asked.training.asked = {{75, Estimate::exact(7500.0)}, {90, Estimate::exact(8000.0)}};
    EXPECT_EQ(objective->value(asked).value, 8000.0);
    NoiseFree bound;
    bound.training_asked_s = 7400.0;
    EXPECT_EQ(objective->bound(bound), 7400.0);
    EXPECT_EQ(find_objective("training_time_p40")->bound, nullptr) << "may lie below the mean";
    EXPECT_EQ(find_objective("step_time_p21")->long_name, "21st percentile of the step time");
    EXPECT_EQ(find_objective("step_time_p11")->long_name, "11th percentile of the step time");
    for (const std::string_view wrong :
         {"training_time_p0", "training_time_p100", "training_time_p9.5", "training_time_p090"}) {
        EXPECT_EQ(find_objective(wrong), nullptr) << wrong;
    }
}

/// A median may lie below the mean, so nothing known of the mean bounds it.
TEST(Objectives, MediansHaveNoBound)
{
    for (const std::string_view name : {"training_time_p50", "step_time_p50", "miss_probability",
                                        "lost_share", "training_time_tail", "step_time_tail"}) {
        EXPECT_EQ(find_objective(name)->bound, nullptr);
    }
}

}  // namespace
}  // namespace prismopt
