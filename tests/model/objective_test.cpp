#include "model/objective.hpp"

#include <gtest/gtest.h>

#include <set>

namespace prismopt {
namespace {

/// A prediction whose times all lie at or above the bound's.
Prediction prediction()
{
    Prediction p;
    p.gpus = 64;
    p.step = {Estimate::exact(2.0), Estimate::exact(1.9), Estimate::exact(2.2), Estimate::exact(2.5), {}};
    p.training = {Estimate::exact(7200.0), Estimate::exact(7000.0), Estimate::exact(9000.0), Estimate::exact(10800.0), {}};
    p.cost_usd = Estimate::exact(300.0);
    p.expected_cost_usd = Estimate::exact(200.0);
    p.memory.parameters = Bytes{5e9};
    p.memory.activations = Bytes{7e9};
    p.ettr = 0.9;
    p.run.energy_j = Estimate::exact(5e9);
    p.run.carbon_kg = Estimate::exact(600.0);
    p.run.miss_probability = Estimate::exact(0.25);
    return p;
}

constexpr NoiseFree bound{1.8, 6500.0, 180.0, 12e9, 64.0, 4e9, 500.0, 6600.0, 6700.0, 190.0};

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

TEST(Objectives, ShowTheirPartOfAPrediction)
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
    EXPECT_DOUBLE_EQ(value("lost_share"), 0.1);
    EXPECT_DOUBLE_EQ(value("training_time_tail"), 10800.0 / 7000.0);
    EXPECT_DOUBLE_EQ(value("step_time_tail"), 2.5 / 1.9);
}

TEST(Objectives, BoundsLieBelowValues)
{
    for (const Objective& objective : objectives()) {
        if (objective.bound != nullptr) {
            EXPECT_LE(objective.bound(bound), objective.value(prediction()).value) << objective.name;
            EXPECT_GT(objective.bound(bound), 0.5 * objective.value(prediction()).value) << objective.name;  // and near
        }
    }
}

/// A median may lie below the mean, so nothing known of the mean bounds it.
TEST(Objectives, MediansHaveNoBound)
{
    for (const std::string_view name :
         {"training_time_p50", "step_time_p50", "miss_probability", "lost_share", "training_time_tail", "step_time_tail"}) {
        EXPECT_EQ(find_objective(name)->bound, nullptr);
    }
}

}  // namespace
}  // namespace prismopt
