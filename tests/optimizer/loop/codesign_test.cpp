#include "optimizer/loop/codesign.hpp"
#include "io/base/input_error.hpp"

#include "io/scenario/variants.hpp"
#include "optimizer/space/design_map.hpp"
#include "optimizer/space/design_text.hpp"
#include "optimizer/study/worker.hpp"
#include "search/archive.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace prismopt {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* plans = "gpus = [8]\ntp = [1, 2]\npp = [1, 2]";

/// `[search]` is the last section of the tiny scenario, so that hardware parameters can follow it.
Scenario with_hardware_parameters(const std::string& search, const std::string& hardware_parameters)
{
    return tiny_scenario(plans, search + "\n" + hardware_parameters);
}

constexpr const char* bandwidth =
    "[[knob]]\nof = \"bandwidth\"\ntier = \"cluster\"\nrange = [\"5 GB/s\", \"100 GB/s\"]\nlevels = 3\n"
    "price = { per = \"10 GB/s\", cost = \"0.05 USD/h\" }\n";
constexpr const char* groups = "[[knob]]\nof = \"group\"\ntier = \"node\"\nvalues = [2, 5, 6]\n";

TEST(HardwareParameters, MakeAGridOfWhatNests)
{
    const Scenario scenario = with_hardware_parameters("", std::string(bandwidth) + groups);
    EXPECT_EQ(scenario.variants.size(), 3U * 3U);  // of 24 GPUs in nodes of 5 the last holds 4
    EXPECT_EQ(variant_text(scenario.choices, scenario.variants.front()),
              "cluster.bandwidth=5GB/s node.group=2");
    const Variant small = *variant_at(scenario, ChosenValues{HardwareLevel{5e9}, HardwareLevel{2.0}});
    EXPECT_EQ(small.cluster.gpus_per_node(), 2);
    EXPECT_DOUBLE_EQ(small.reliability.node_failure_rate.si, scenario.reliability.node_failure_rate.si / 3.0);
    const double base = scenario.cluster.tiers[1].bandwidth.si;
    EXPECT_NEAR(small.cluster.gpu_price.si * 3600.0, 1.50 + (5e9 - base) / 1e10 * 0.05, 1e-12);
}

TEST(HardwareParameters, TurnALink)
{
    Scenario scenario = with_hardware_parameters(
        "", "[[knob]]\nof = \"latency\"\ntier = \"cluster\"\nvalues = [\"10 us\", \"40 ms\"]\n");
    EXPECT_EQ(variant_text(scenario.choices, scenario.variants.back()), "cluster.latency=40000us");
    EXPECT_DOUBLE_EQ(variant_at(scenario, scenario.variants.back())->cluster.tiers[1].latency.si, 0.04);
    scenario.cluster.tiers[1].aggregate = BytesPerSecond{1e12};
    scenario.choices.front().hardware->target = HardwareTarget::aggregate;
    EXPECT_DOUBLE_EQ(variant_at(scenario, ChosenValues{HardwareLevel{2e12}})->cluster.tiers[1].aggregate.si,
                     2e12);
}

TEST(HardwareParameters, APowerCapSlowsTheClockByItsCubeRoot)
{
    const Scenario scenario =
        with_hardware_parameters("", "[[knob]]\nof = \"power\"\nvalues = [\"200 W\", \"400 W\"]\n");
    const Accelerator capped = variant_at(scenario, ChosenValues{HardwareLevel{200.0}})->cluster.accelerator;
    const Accelerator& whole = scenario.cluster.accelerator;
    ASSERT_DOUBLE_EQ(whole.power.si, 400.0);
    EXPECT_NEAR(capped.peak_bf16 / whole.peak_bf16, std::cbrt((0.5 - 0.2) / 0.8), 1e-12);
    EXPECT_DOUBLE_EQ(capped.memory_bandwidth.si, whole.memory_bandwidth.si);
}

TEST(HardwareParameters, AreTheFirstAxisAndRulesFollowTheHardware)
{
    const Scenario scenario = with_hardware_parameters("", groups);
    const DesignMap designs(scenario);
    EXPECT_EQ(designs.space().axes().front().name, "variant");
    for (std::size_t h = 0; h < scenario.variants.size(); ++h) {
        Scenario alone = tiny_scenario(plans);
        alone.cluster = variant_at(scenario, scenario.variants[h])->cluster;
        const DesignMap plain(alone);
        std::set<std::string> here;
        std::set<std::string> there;
        const std::uint64_t each = plain.space().size();
        designs.space().enumerate(h * each, (h + 1) * each, [&](std::uint64_t, std::span<const int> point) {
            EXPECT_EQ(designs.variant(point), h);
            here.insert(design_text(designs.plan(point)));
        });
        plain.space().enumerate(0, each, [&](std::uint64_t, std::span<const int> point) {
            there.insert(design_text(plain.plan(point)));
        });
        EXPECT_EQ(here, there);
    }
}

TEST(HardwareParameters, RefuseWhatCannotBeTurned)
{
    const auto refused = [](const std::string& hardware_parameters, const std::string& search = "") {
        return [=] { with_hardware_parameters(search, hardware_parameters); };
    };
    EXPECT_THAT(refused("[[knob]]\nof = \"speed\"\nvalues = [1]"),
                ThrowsMessage<InputError>(HasSubstr("speed")));
    EXPECT_THAT(refused("[[knob]]\nof = \"group\"\ntier = \"cluster\"\nvalues = [6]"),
                ThrowsMessage<InputError>(HasSubstr("always spans the whole cluster")));
    EXPECT_THAT(refused("[[knob]]\nof = \"aggregate\"\ntier = \"cluster\"\nvalues = [\"1 TB/s\"]"),
                ThrowsMessage<InputError>(HasSubstr("has no shared circuit")));
    EXPECT_THAT(refused("[[knob]]\nof = \"group\"\ntier = \"node\"\nrange = [2, 6]"),
                ThrowsMessage<InputError>(HasSubstr("cannot be a range")));
    EXPECT_THAT(refused("[[knob]]\nof = \"group\"\ntier = \"node\"\nvalues = [48]"),
                ThrowsMessage<InputError>(HasSubstr(
                    "has node.group = 48, which never nests (\"node\" of 48 GPUs and \"cluster\" of 24")));
    EXPECT_THAT(refused(std::string(bandwidth) + bandwidth),
                ThrowsMessage<InputError>(HasSubstr("is listed twice")));
    EXPECT_THAT([] { tunes_hardware(with_hardware_parameters("strategy = \"nlopt\"", groups)); },
                ThrowsMessage<InputError>(HasSubstr("no parameter to tune")));
}

/// Tuned hardware widens the grid's front, and a fine grid finds nothing much better.
TEST(Codesign, TunedHardwareLiesOnTheFrontOfAFineGrid)
{
    Scenario scenario = with_hardware_parameters("tune_points = 6\ntune_evaluations = 60", bandwidth);
    scenario.cluster.tiers.front().group_gpus = 4;  // so that 8 GPUs fill nodes
    ASSERT_TRUE(tunes_hardware(scenario));
    scenario.objectives = {"training_time_mean", "expected_cost"};
    const TunedHardware tuned = tune_hardware(scenario);
    EXPECT_FALSE(tuned.variants.empty());
    EXPECT_EQ(tune_hardware(scenario).variants, tuned.variants);

    const auto front_on = [](Scenario of, std::vector<ChosenValues> variants) {
        of.variants = std::move(variants);
        const StudyModel model(of);
        std::vector<std::vector<double>> bounds;
        for (const Bound& bound : Worker(model).sweep({0, model.designs.space().size()}).feasible) {
            bounds.push_back(bound.objectives);
        }
        std::vector<std::vector<double>> front;
        for (const std::size_t i : non_dominated(bounds)) {
            front.push_back(bounds[i]);
        }
        return front;
    };
    std::vector<ChosenValues> fine;
    for (int i = 0; i <= 190; ++i) {
        fine.push_back({HardwareLevel{5e9 + 0.5e9 * i}});
    }
    const auto best = front_on(scenario, fine);
    std::vector<ChosenValues> all = scenario.variants;
    all.insert(all.end(), tuned.variants.begin(), tuned.variants.end());
    const auto found = front_on(scenario, all);
    std::vector<double> reference{0.0, 0.0};
    for (const auto& point : best) {
        for (std::size_t k = 0; k < 2; ++k) {
            reference[k] = std::max(reference[k], 1.1 * point[k]);
        }
    }
    // A few points cannot fill the front, but each lies on it: no hardware of the fine grid is
    // better by a thousandth in both.
    for (const auto& point : front_on(scenario, tuned.variants)) {
        for (const auto& other : best) {
            EXPECT_FALSE(other[0] < 0.999 * point[0] && other[1] < 0.999 * point[1]);
        }
    }
    EXPECT_GE(hypervolume(found, reference), hypervolume(front_on(scenario, scenario.variants), reference));
}

/// Stopped again and again, each leg knows what those before it learned; what comes out is that
/// of one leg, of drawn costs too.
TEST(Codesign, AStoppedTuningGoesOnFromWhatItLearned)
{
    const Scenario scenario =
        with_hardware_parameters("tune_points = 3\ntune_evaluations = 20\ntune_fleets = 64", bandwidth);
    std::vector<std::string> asked;
    TuningLog whole_log;
    whole_log.learn = [&](const std::string& question, const Message&) { asked.push_back(question); };
    const TunedHardware whole = tune_hardware(scenario, whole_log);
    ASSERT_GT(asked.size(), 60U);

    const std::size_t distinct = std::set<std::string>(asked.begin(), asked.end()).size();
    std::map<std::string, Message> known;
    std::size_t learned = 0;  // in this leg
    TuningLog log;
    log.recall = [&](const std::string& question) {
        const auto found = known.find(question);
        return found == known.end() ? std::nullopt : std::optional(found->second);
    };
    log.learn = [&](const std::string& question, const Message& answer) {
        EXPECT_TRUE(known.emplace(question, answer).second) << question << " is asked though it is known";
        ++learned;
    };
    log.stop = [&] { return learned >= distinct / 3; };
    std::optional<TunedHardware> tuned;
    int stops = 0;
    while (!tuned) {
        learned = 0;
        try {
            tuned = tune_hardware(scenario, log);
        } catch (const TuningStopped& stopped) {
            EXPECT_THAT(stopped.what(), HasSubstr("evaluations"));
            ASSERT_LT(++stops, 100);
        }
    }
    EXPECT_GE(stops, 2);
    EXPECT_EQ(tuned->variants, whole.variants);
    EXPECT_EQ(tuned->evaluations, whole.evaluations);
    EXPECT_EQ(known.size(), distinct);
}

TEST(Codesign, StaysUnderThePriceLimit)
{
    const Scenario scenario = with_hardware_parameters(
        "gpu_price_limit = \"1.60 USD/h\"\ntune_points = 4\ntune_evaluations = 40", bandwidth);
    for (const auto& values : tune_hardware(scenario).variants) {
        EXPECT_LE(variant_at(scenario, values)->cluster.gpu_price.si * 3600.0, 1.60 + 1e-12);
    }
}

}  // namespace
}  // namespace prismopt
