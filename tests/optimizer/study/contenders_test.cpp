#include "optimizer/study/contenders.hpp"

#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace prismopt {
namespace {

/// Jobs without spare nodes wait for repairs, which no bound contains: the plans of such jobs that were drawn
/// contain no information about how far other plans are above their bounds.
TEST(Contenders, AreNotJudgedByJobsThatWaitForNodes)
{
    Scenario scenario =
        tiny_scenario("gpus = [8]\ntp = [1, 2]\npp = [1]\nmicrobatch = [1]\nspares = [0, 2]\n");
    scenario.objectives = {"training_time_mean"};
    const StudyModel model(scenario);
    Results results;
    results.objectives.emplace_back().name = "training_time_mean";
    std::vector<std::uint64_t> expected;
    for (std::uint64_t index = 0; index < model.designs.space().size(); ++index) {
        const ParallelPlan plan = model.designs.plan(model.designs.space().point(index));
        const bool waits = plan.spares == 0;
        const bool drawn = waits || plan.tp == 1;
        const double bound = plan.tp == 1 ? 100.0 : 103.0;
        EvaluatedPoint& point = results.evaluations.emplace_back();
        point.index = index;
        point.bounds = {bound};
        if (drawn) {
            point.objectives = {{.value = (waits ? 1.8 : 1.01) * bound}};
        }
        if (!waits) {
            expected.push_back(index);
        }
    }
    const FindFacts find = [&](const FactsRequest& request) {
        std::vector<PlanFacts> facts;
        for (const std::uint64_t index : request.points) {
            const EvaluatedPoint& point = results.evaluations[index];
            const bool waits = model.designs.plan(model.designs.space().point(index)).spares == 0;
            facts.emplace_back().estimates = {(waits ? 1.78 : 1.0) * point.bounds.front()};
        }
        return facts;
    };
    std::vector<std::uint64_t> found;
    for (const Contender& contender : contenders_of(model, results, find)) {
        found.push_back(contender.index);
        EXPECT_LT(contender.values.front(), 106.0);
    }
    EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace prismopt
