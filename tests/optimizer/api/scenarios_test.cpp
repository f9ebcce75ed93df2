#include "optimizer/api/scenarios.hpp"

#include "tests/optimizer/tiny_study.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

const Scenario& tiny()
{
    static const Scenario scenario = tiny_scenario("gpus = [24]\ntp = [2]\n");
    return scenario;
}

TEST(Scenarios, ChangeByKeyIsReadLikeAFile)
{
    const Scenario scenario = changed(tiny(), {{"cluster.gpus", "48"},
                                               {"space.gpus", "[48]"},
                                               {"phase[1].tokens", "3e8"},
                                               {"search.confidence", "0.9"}});
    EXPECT_EQ(scenario.cluster.gpus, 48);
    EXPECT_EQ(scenario.space.gpus, std::vector{48});
    EXPECT_EQ(scenario.phases[0].tokens, tiny().phases[0].tokens);
    EXPECT_EQ(scenario.phases[1].tokens, 3e8);
    EXPECT_EQ(scenario.search.confidence, 0.9);
    EXPECT_EQ(parse_scenario(scenario.text, "again.toml").cluster.gpus, 48);  // results files hold the text
    EXPECT_EQ(tiny().cluster.gpus, 24);
}

TEST(Scenarios, RefusedChangesHavePlaceAndRemedy)
{
    try {
        changed(tiny(), {{"cluster.gpus", "-3"}});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_EQ(error.place().file, "tiny.toml");
        EXPECT_GT(error.place().line, 1);
        EXPECT_FALSE(error.reason().empty());
        EXPECT_FALSE(error.remedy().empty());
    }
    EXPECT_THROW(changed(tiny(), {{"cluster.no_such_key", "1"}}), InputError);
    EXPECT_THROW(changed(tiny(), {{"phase[2].tokens", "1e9"}}), InputError);
}

TEST(Scenarios, StartsFromTheCatalog)
{
    StarterChoice choice;
    choice.workload = "llama3-8b";
    choice.accelerator = "h100-sxm";
    choice.gpus = 64;
    EXPECT_EQ(started(choice).cluster.gpus, 64);
}

}  // namespace
}  // namespace prismopt
