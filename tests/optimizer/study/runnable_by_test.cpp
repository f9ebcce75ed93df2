#include "io/base/input_error.hpp"
#include "optimizer/space/design_map.hpp"

#include "io/scenario/reading/scenario_trainer.hpp"
#include "io/trainers/trainer.hpp"
#include "model/plan/phase.hpp"
#include "model/plan/plan_axes.hpp"
#include "optimizer/space/design_text.hpp"
#include "tests/optimizer/tiny_study.hpp"
#include "tests/support/workload_shapes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace prismopt {
namespace {

using testing::HasSubstr;

/// Every rule of some trainer refuses something in one of the two: `mixed` has
/// experts and context parallel groups.
Scenario many_plans(bool mixed)
{
    Scenario scenario = tiny_scenario(mixed ? R"(gpus = [8, 12]
tp = [1, 2]
cp = [1, 2]
pp = [1, 2]
schedule = ["1f1b", "gpipe", "zb_h1"]
sharding = ["zero1", "none", "zero3"]
order = ["tp-pp-dp", "tp-dp-pp"]
tp_overlap = ["off", "on"]
post_validation = ["on", "off"]
)"
                                            : R"(gpus = [4, 8, 12]
tp = [1, 2]
pp = [1, 2, 4]
v = [1, 2]
microbatch = [1, 2]
schedule = ["interleaved", "zb_v", "v_half", "dualpipe", "1f1b", "gpipe"]
group = [2, 8]
recompute = ["none", "full"]
recomputed_layers = [0, 3]
sharding = ["zero1", "none", "zero2"]
split = ["slots", "layers"]
order = ["tp-pp-dp", "tp-dp-pp"]
)",
                                      "", 24);
    if (mixed) {
        change_decoder(scenario.workload,
                       [](Transformer& t) { t.experts = {.count = 8, .active = 2, .feed_forward = 512}; });
        scenario.space.ep = {1, 2};
        scenario.space.etp = {1, 2};
        scenario.space.offload = {Offload::none, Offload::optimizer, Offload::activations};
    }
    return scenario;
}

std::map<std::string, std::uint64_t> rejected(const Scenario& scenario, std::set<std::uint64_t>& allowed)
{
    const DesignMap designs(scenario);
    std::map<std::string, std::uint64_t> by_reason;
    for (const Rejected& r :
         designs.space().enumerate(0, designs.space().size(), [&](std::uint64_t index, std::span<const int>) {
             allowed.insert(index);
         })) {
        by_reason[r.reason] += r.count;
    }
    return by_reason;
}

/// By the plan in each phase, whatever axes have been set when a rule is asked.
TEST(RunnableBy, LeavesWhatExportsAccept)
{
    for (const bool mixed : {false, true}) {
        Scenario scenario = many_plans(mixed);
        const DesignMap designs(scenario);
        std::set<std::uint64_t> all;
        rejected(scenario, all);
        for (const Trainer& trainer : trainers()) {
            std::set<std::uint64_t> expected;
            for (const std::uint64_t index : all) {
                const ParallelPlan plan = designs.plan(designs.space().point(index));
                const bool runs =
                    in_every_phase(plan, scenario.phases, [&](const ParallelPlan& own, const Phase& phase) {
                        return cannot_run(trainer.name, {own, phase, scenario}).empty();
                    });
                if (runs) {
                    expected.insert(index);
                }
            }
            scenario.search.runnable_by = trainer.name;
            std::set<std::uint64_t> allowed;
            const auto reasons = rejected(scenario, allowed);
            EXPECT_EQ(allowed, expected) << trainer.name;
            EXPECT_FALSE(allowed.empty()) << trainer.name;
            EXPECT_LT(allowed.size(), all.size()) << trainer.name;
            EXPECT_GT(std::count_if(reasons.begin(), reasons.end(),
                                    [&](const auto& r) {
                                        return r.first.starts_with(trainer.name) && r.second > 0;
                                    }),
                      1)
                << trainer.name;
            scenario.search.runnable_by.clear();
        }
    }
}

/// Only what the rules on that axis exclude, and only with that value.
TEST(RunnableBy, LeavesListedValues)
{
    Scenario scenario = many_plans(false);
    scenario.search.runnable_by = "torchtitan";
    std::set<std::uint64_t> without;
    rejected(scenario, without);
    scenario.search.runs_too = {"sharding=zero1"};
    std::set<std::uint64_t> with;
    rejected(scenario, with);
    const DesignMap designs(scenario);
    EXPECT_GT(with.size(), without.size());
    for (const std::uint64_t index : with) {
        const ParallelPlan plan = designs.plan(designs.space().point(index));
        EXPECT_TRUE(without.contains(index) || plan.sharding == Sharding::zero1);
    }
}

TEST(RunnableBy, RulesNameAxesOfTheSpace)
{
    std::set<std::string> axes;
    ParallelPlan any;
    for_axes(any, {}, [&](std::string_view axis, auto&, const auto&) { axes.emplace(axis); });
    for (const Trainer& trainer : trainers()) {
        for (const TrainerRule& rule : trainer.rules) {
            EXPECT_TRUE(axes.contains(std::string(rule.axis))) << trainer.name << ": " << rule.reason;
        }
    }
}

TEST(RunnableBy, IsInTheScenariosText)
{
    const Scenario scenario = many_plans(false);
    const Scenario restricted = with_trainer(scenario, "bridge");
    EXPECT_EQ(restricted.search.runnable_by, "bridge");
    EXPECT_EQ(parse_scenario(restricted.text, "x.toml").search.runnable_by, "bridge");
    EXPECT_EQ(with_trainer(restricted, "bridge").text, restricted.text);
    EXPECT_THROW(with_trainer(restricted, "megatron"), InputError);
    EXPECT_THROW(with_trainer(scenario, "megatrn"), InputError);
    std::string without = scenario.text;
    const std::size_t header = without.find("[search]");
    if (header != std::string::npos) {
        without.replace(header, 8, " [ search ]  # how");
        EXPECT_EQ(with_trainer(parse_scenario(without, "x.toml"), "torchtitan").search.runnable_by,
                  "torchtitan");
    }
}

}  // namespace
}  // namespace prismopt
