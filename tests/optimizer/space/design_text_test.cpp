#include "optimizer/space/design_text.hpp"
#include "io/base/input_error.hpp"

#include "io/report/front/plan_words.hpp"
#include "io/results/results.hpp"
#include "model/plan/plan_axes.hpp"
#include "optimizer/space/design_map.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace prismopt {
namespace {

using testing::HasSubstr;

std::string text_of(int value) { return std::to_string(value); }
std::string text_of(Seconds value) { return std::to_string(value.si); }
template <class Enum>
std::string text_of(Enum value)
{
    return std::string(name(value));
}

/// All that a plan chooses, axis by axis.
std::vector<std::string> choices_of(ParallelPlan plan)
{
    std::vector<std::string> all{text_of(plan.dp), text_of(plan.shard_gpus)};
    for_axes(plan, {},
             [&](std::string_view, const auto& choice, const auto&) { all.push_back(text_of(choice)); });
    return all;
}

template <class T>
void fill(std::vector<T>& values)
{
    if constexpr (std::is_enum_v<T>) {
        std::string names = choices<T>();
        std::replace(names.begin(), names.end(), ',', ' ');
        std::istringstream words(names);
        values.clear();
        for (std::string word; words >> word;) {
            values.push_back(*parse<T>(word));
        }
    } else if constexpr (std::is_same_v<T, Seconds>) {
        values = {Seconds{}, Seconds{600.0}};
    } else if constexpr (std::is_same_v<T, ModuleSet>) {
        values = {ModuleSet{}, ModuleSet{Module::mlp}};  // which both axes of sets have
    } else {
        values = {1, 2};
    }
}

/// Every value of every axis; groups and spares have zeros of their own.
SpaceSettings all_values()
{
    SpaceSettings space;
    space.gpus = {24};
    ParallelPlan any;
    SpaceSettings& writable = space;
    for_axes(any, space, [&](std::string_view, auto&, const auto& values) {
        fill(const_cast<std::remove_const_t<std::remove_reference_t<decltype(values)>>&>(values));
    });
    writable.group = {0, 2};
    writable.recomputed_layers = {0, 2};
    writable.spares = {0, 2};
    return space;
}

/// "tp=4 pp=2" as "tp 4 pp 2".
std::string in_words(std::string text)
{
    std::replace(text.begin(), text.end(), '=', ' ');
    return text;
}

/// The scenario lists one value of the axis, another, or all of them: its text names
/// what the scenario would not give.
TEST(DesignText, GivesEveryValueOfEveryAxisBack)
{
    Scenario scenario = tiny_scenario("gpus = [24]\n");
    const SpaceSettings all = all_values();
    ParallelPlan any;
    int values_seen = 0;
    for_axes(any, all, [&](std::string_view axis, const auto&, const auto& values) {
        for (std::size_t v = 0; v < values.size(); ++v) {
            ParallelPlan plan;
            for_axes(plan, all, [&](std::string_view other, auto& choice, const auto& of_other) {
                if constexpr (std::is_same_v<decltype(of_other), decltype(values)>) {
                    if (std::string(other) == axis) {
                        choice = of_other[v];
                    }
                }
            });
            plan.dp = 24 / (plan.tp * plan.cp * plan.pp);
            for (const SpaceSettings& space : {SpaceSettings{.gpus = {24}}, all}) {
                scenario.space = space;
                const std::string text = design_text(plan, space);
                EXPECT_EQ(choices_of(parse_design(text, scenario)), choices_of(plan)) << axis << ": " << text;
                EXPECT_EQ(choices_of(parse_design(in_words(text), scenario)), choices_of(plan))
                    << axis << ": " << text;
                EXPECT_EQ(design_text(parse_design(in_words(text), scenario), space), text);
            }
            ++values_seen;
        }
    });
    EXPECT_GT(values_seen, 50);
}

/// A scenario with one choice gives it to plans that do not name another.
TEST(DesignText, NamesWhatTheScenarioWouldGiveOtherwise)
{
    Scenario scenario =
        tiny_scenario("gpus = [24]\ntp_overlap = [\"on\"]\ncheckpoint_interval = [\"10 min\"]\n");
    const ParallelPlan plan{.dp = 24};
    const std::string text = design_text(plan, scenario.space);
    EXPECT_THAT(text, HasSubstr("tp_overlap=off"));
    EXPECT_EQ(choices_of(parse_design(text, scenario)), choices_of(plan));
}

TEST(DesignText, TakesSchedulesByTheirValue)
{
    const Scenario scenario = tiny_scenario("gpus = [24]\n");
    std::vector<Schedule> all;
    fill(all);
    for (const Schedule schedule : all) {
        EXPECT_EQ(parse_design("pp 2 " + std::string(name(schedule)), scenario).schedule, schedule);
    }
    EXPECT_EQ(parse_design("pp 2 dp 12 mb 2 v 2 interleaved full", scenario).microbatch, 2);
    EXPECT_EQ(parse_design("full", scenario).recompute, Recompute::full);
    EXPECT_THROW(parse_design("none", scenario), InputError);  // of several axes
}

/// What tables print of every plan of a space with several values on most axes.
TEST(PlanWords, AreADesign)
{
    const Scenario scenario = tiny_scenario(R"(gpus = [4, 12]
tp = [1, 2]
cp = [1, 2]
pp = [1, 2]
v = [1, 2]
microbatch = [1, 2]
schedule = ["interleaved", "zb_h1", "1f1b"]
group = [2, 4]
recompute = ["none", "full"]
sharding = ["none", "zero1"]
dp_overlap = ["off", "on"]
tp_overlap = ["off", "on"]
context_exchange = ["all-gather", "ring"]
post_validation = ["on", "off"]
checkpoint_interval = ["10 min", "1 h"]
spares = [0, 1]
order = ["tp-dp-pp", "tp-pp-dp"]
)",
                                            "", 24);
    const DesignMap designs(scenario);
    Results results;
    results.axes = designs.space().axes();
    int plans = 0;
    designs.space().enumerate(
        0, designs.space().size(), [&](std::uint64_t index, std::span<const int> point) {
            FrontPoint member;
            member.point = designs.space().point(index);
            const std::string words = plan_words(results, member);
            EXPECT_EQ(choices_of(parse_design(words, scenario)), choices_of(designs.plan(point))) << words;
            ++plans;
        });
    EXPECT_GT(plans, 1000);
}

/// By name and value, as reports print it, or by a value that no other axis has.
TEST(ParseDesign, ReportsWhichAxesATextStates)
{
    const Scenario scenario = tiny_scenario("gpus = [8]\ntp = [1, 2]\npp = [1, 2]\n");
    for (const char* text : {"tp=2 order=tp-pp-dp", "tp 2 order tp-pp-dp", "tp=2 tp-pp-dp"}) {
        EXPECT_TRUE(states_axis(text, "order", scenario)) << text;
        EXPECT_FALSE(states_axis(text, "pp", scenario)) << text;
    }
    EXPECT_FALSE(states_axis("tp=2", "order", scenario));
}

TEST(ParseDesign, ChecksReplicasAgainstTheGpus)
{
    const Scenario scenario = tiny_scenario("gpus = [4, 12]\n");
    EXPECT_EQ(parse_design("tp=2 dp=3", scenario).gpus(), 6);  // no gpus named: what the degrees make
    EXPECT_EQ(parse_design("gpus=12 tp=2 dp=6", scenario).dp, 6);
    const auto complaint = [&](const std::string& text) -> std::string {
        try {
            parse_design(text, scenario);
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_THAT(complaint("gpus=12 tp=2 dp=3"), HasSubstr("6 GPUs, not gpus=12"));
    EXPECT_THAT(complaint("tp=2 dp=13"), HasSubstr("26 GPUs, more than the cluster's 24"));
    EXPECT_THAT(complaint("dp=0"), HasSubstr("dp=0"));
    EXPECT_THAT(complaint("dp 2 dp=2"), HasSubstr("twice"));
    EXPECT_THAT(complaint("mb 2 microbatch=2"), HasSubstr("twice"));
    EXPECT_THAT(complaint("tp pp 2"), HasSubstr("'2'"));
    EXPECT_THAT(complaint("tp=24 pp=24 cp=24 dp=24"), HasSubstr("more than"));
}

/// Degrees that do not divide the GPUs leave no replica, so that the plan's degrees do not
/// say how many GPUs were asked for.
TEST(DesignText, OfAPlanWithoutReplicasNamesNoGpus)
{
    ParallelPlan plan;
    plan.tp = 3;
    plan.dp = 0;
    EXPECT_THAT(design_text(plan, {}), testing::StartsWith("tp=3 pp=1 "));
}

}  // namespace
}  // namespace prismopt
