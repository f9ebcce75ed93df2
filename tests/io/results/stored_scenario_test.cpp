#include "io/results/stored_scenario.hpp"

#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace prismopt {
namespace {

using testing::ElementsAre;

const std::string given = "order = [\"tp-dp-pp\", \"tp-pp-dp\"]\n";

TEST(StoredScenario, HasTheOrderThatWasTheDefaultThen)
{
    StudyInfo study;
    study.scenario_text = with(given, "");
    study.seed = 7;
    EXPECT_THAT(scenario_of(study).space.order, ElementsAre(PlacementOrder::tp_dp_pp));
    study.default_order = PlacementOrder::tp_pp_dp;
    EXPECT_THAT(scenario_of(study).space.order, ElementsAre(PlacementOrder::tp_pp_dp));
    EXPECT_EQ(scenario_of(study).seed, 7U);
}

TEST(StoredScenario, KeepsAnOrderThatIsGiven)
{
    StudyInfo study;
    study.default_order = PlacementOrder::tp_pp_dp;
    study.scenario_text = good;
    EXPECT_THAT(scenario_of(study).space.order,
                ElementsAre(PlacementOrder::tp_dp_pp, PlacementOrder::tp_pp_dp));
}

}  // namespace
}  // namespace prismopt
