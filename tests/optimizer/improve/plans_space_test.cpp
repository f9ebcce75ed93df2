#include "optimizer/improve/plans_space.hpp"

#include "io/base/input_error.hpp"
#include "optimizer/space/design_map.hpp"
#include "optimizer/space/design_text.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace prismopt {
namespace {

bool has(const DesignMap& designs, const ParallelPlan& plan)
{
    for (std::uint64_t index = 0; index < designs.space().size(); ++index) {
        if (designs.plan(designs.space().point(index)) == plan) {
            return true;
        }
    }
    return false;
}

TEST(PlansSpace, HasThePlansAndWhatLiesBetweenThem)
{
    const Scenario scenario =
        tiny_scenario("gpus = [8, 16]\ntp = [1, 2]\npp = [1,\n  2]\n", "tune_points = 3\n");
    const ParallelPlan one = parse_design("gpus=8 tp=1 pp=2 microbatch=1", scenario);
    ParallelPlan other = one;
    other.tp = 2;
    other.dp = 2;
    other.recompute = Recompute::selective;
    other.recompute_modules = ModuleSet{Module::layernorm};
    const Scenario narrowed = with_space_of(scenario, std::array{one, other});
    EXPECT_EQ(narrowed.space.gpus, (std::vector{8}));
    EXPECT_EQ(narrowed.space.tp, (std::vector{1, 2}));
    EXPECT_EQ(narrowed.space.pp, (std::vector{2}));
    EXPECT_EQ(narrowed.search.tune_points, 3);
    const DesignMap designs(narrowed);
    EXPECT_TRUE(has(designs, one));
    EXPECT_TRUE(has(designs, other));
    EXPECT_EQ(narrowed.cluster.accelerator.name, scenario.cluster.accelerator.name);
}

TEST(PlansSpace, HasPlansThatTheTrainerRefuses)
{
    const Scenario scenario =
        tiny_scenario("gpus = [8]\ntp = [1, 2]\nsharding = [\"zero2\"]\n", "runnable_by = \"torchtitan\"\n");
    const ParallelPlan whole =
        parse_design("gpus=8 tp=1 pp=1 microbatch=1 recompute=full sharding=zero2", scenario);
    ParallelPlan half = whole;
    half.recomputed_layers = 2;
    EXPECT_EQ(with_space_of(scenario, std::array{whole}).search.runnable_by, "torchtitan");
    EXPECT_EQ(with_space_of(scenario, std::array{whole, half}).search.runnable_by, "");
}

TEST(PlansSpace, ListsTheValuesOfAnAxis)
{
    ParallelPlan one;
    ParallelPlan other;
    other.sharding = Sharding::none;
    other.recompute_modules = ModuleSet{Module::layernorm};
    const std::array plans{one, other, one};
    EXPECT_EQ(space_list("sharding", plans), R"(["zero1","none"])");
    EXPECT_EQ(space_list("recompute_modules", plans), R"([[],["layernorm"]])");
}

}  // namespace
}  // namespace prismopt
