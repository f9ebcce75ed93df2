#include "io/scenario/reading/energy_of_work.hpp"

#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/variants.hpp"
#include "tests/io/good_scenario.hpp"
#include "tests/io/refusal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string minimise = "minimise = [\"training_time_p99\", \"cost\"]";

/// `good` with energy as an objective, other figures of the accelerator, and other sections.
Scenario energetic(const std::string& figures, const std::string& sections = "")
{
    std::string text = with(
        "gpus = 64", "gpus = 64" + (figures.empty() ? "" : "\naccelerator_override = { " + figures + " }"));
    text.replace(text.find(minimise), minimise.size(),
                 "minimise = [\"training_time_p99\", \"energy\", \"carbon\"]");
    return parse_scenario(text + sections, "x.toml");
}

std::string parameter(const std::string& keys) { return "\n[[knob]]\n" + keys + "\n"; }

const Accelerator& accelerator_of(const Scenario& scenario) { return scenario.cluster.accelerator; }

/// Studies that leave rates and energies alone keep the share of the board limit.
TEST(EnergyOfWork, IsAskedForWhereHardwareChanges)
{
    EXPECT_FALSE(accelerator_of(energetic("")).energy_follows_work);
    EXPECT_EQ(energy_note(energetic("")), "");
    EXPECT_FALSE(accelerator_of(energetic("memory = \"60 GB\"")).energy_follows_work);
    EXPECT_FALSE(
        accelerator_of(energetic("peak_bf16 = \"2500 TFLOP/s\", power = \"900 W\"")).energy_follows_work);
    EXPECT_FALSE(accelerator_of(energetic("", parameter("of = \"power\"\nvalues = [\"300 W\", \"400 W\"]")))
                     .energy_follows_work);

    EXPECT_TRUE(accelerator_of(energetic("peak_bf16 = \"2500 TFLOP/s\"")).energy_follows_work);
    EXPECT_TRUE(accelerator_of(energetic("energy = { bf16 = \"0.9 pJ/FLOP\" }")).energy_follows_work);
    for (const char* of : {"of = \"compute\"\nvalues = [\"312 TFLOP/s\", \"624 TFLOP/s\"]",
                           "of = \"memory_bandwidth\"\nvalues = [\"2 TB/s\", \"4 TB/s\"]",
                           "of = \"compute_energy\"\nvalues = [\"0.5 pJ/FLOP\", \"1 pJ/FLOP\"]",
                           "of = \"memory_energy\"\nvalues = [\"4 pJ/bit\"]"}) {
        const Scenario scenario = energetic("", parameter(of));
        EXPECT_TRUE(accelerator_of(scenario).energy_follows_work) << of;
        EXPECT_THAT(energy_note(scenario), HasSubstr("pJ/FLOP in 16 bits and ")) << of;
    }
}

/// 400 W at 312 TFLOP/s and 2.039 TB/s; 0.9 in training and 0.2 waiting.
TEST(EnergyOfWork, GivesAFasterAcceleratorItsPower)
{
    const double memory_w = 0.2 * 2.039e12 * 40e-12;
    const double products_w = 0.7 * 400.0 - memory_w;
    const Accelerator faster = accelerator_of(energetic("peak_bf16 = \"624 TFLOP/s\""));
    EXPECT_NEAR(faster.energy.bf16.si, products_w / 156e12, 1e-18);
    EXPECT_NEAR(faster.power.si, 400.0 * (2.0 * products_w + memory_w) / 280.0, 1e-6);
    const Accelerator wider = accelerator_of(energetic("memory_bandwidth = \"4.078 TB/s\""));
    EXPECT_NEAR(wider.power.si, 400.0 * (products_w + 2.0 * memory_w) / 280.0, 1e-6);
    const Accelerator thrifty =
        accelerator_of(energetic("peak_bf16 = \"624 TFLOP/s\", energy = { bf16 = \"0.5 pJ/FLOP\" }"));
    EXPECT_NEAR(thrifty.power.si, 400.0 * (0.5 * 624.0 * 0.5 + memory_w) / 280.0, 1e-6);
}

TEST(EnergyOfWork, FollowsHardwareParameters)
{
    const Scenario scenario = energetic(
        "",
        parameter("of = \"compute\"\nvalues = [\"312 TFLOP/s\", \"624 TFLOP/s\"]\nenergy = \"0.5 pJ/FLOP\"") +
            parameter("of = \"bandwidth\"\ntier = \"cluster\"\nvalues = [\"25 GB/s\", \"50 GB/s\"]\nenergy = "
                      "\"34 pJ/bit\"") +
            parameter("of = \"memory\"\nvalues = [\"80 GB\", \"104 GB\"]\npower = { per = \"24 GB\", draw = "
                      "\"6 W\" }"));
    ASSERT_EQ(scenario.variants.size(), 8U);
    EXPECT_THAT(energy_note(scenario), HasSubstr("Links draw power"));
    const Cluster most = variant_at(scenario, scenario.variants.back())->cluster;
    EXPECT_DOUBLE_EQ(most.accelerator.energy.bf16.si, 0.5e-12);
    const double memory_gb = scenario.cluster.accelerator.memory.si / 1e9;
    const double before_w = scenario.cluster.tiers[1].bandwidth.si * 112.5 * 8e-12;
    EXPECT_NEAR(most.added_power.si, 6.0 * (104.0 - memory_gb) / 24.0 + 50e9 * 34.0 * 8e-12 - before_w, 1e-6);
}

const std::string optics = R"(
[[bundle]]
name = "optics"

[[bundle.option]]
name = "pluggable"

[[bundle.option]]
name = "cpo"
price = "0.20 USD/h"
power = "-3 W"
set = [
  { of = "bandwidth", tier = "cluster", value = "100 GB/s", energy = "34 pJ/bit" },
  { of = "latency", tier = "cluster", value = "3 us" },
  { of = "compute", precision = "bf16", value = "400 TFLOP/s" },
  { of = "failure_rate", value = "4.32e-3 /day" },
]
)";

TEST(Bundles, SetSeveralFiguresAtOnce)
{
    const Scenario scenario = energetic(
        "", optics + parameter("of = \"bandwidth\"\ntier = \"node\"\nvalues = [\"300 GB/s\", \"450 GB/s\"]"));
    ASSERT_EQ(scenario.choices.size(), 2U);
    ASSERT_EQ(scenario.variants.size(), 4U);
    const auto named = [&](const std::string& text) {
        const auto values = variant_values(scenario.choices, text);
        return values ? variant_at(scenario, *values) : std::nullopt;
    };
    const auto before = named("node.bandwidth=300GB/s optics=pluggable");
    const auto cpo = named("node.bandwidth=300GB/s optics=cpo");
    ASSERT_TRUE(before && cpo);
    EXPECT_FALSE(named("node.bandwidth=300GB/s optics=linear").has_value());
    EXPECT_DOUBLE_EQ(before->cluster.gpu_price.si, scenario.cluster.gpu_price.si);
    EXPECT_DOUBLE_EQ(before->reliability.node_failure_rate.si, 8.64e-3 / 86400.0);
    EXPECT_NEAR((cpo->cluster.gpu_price.si - scenario.cluster.gpu_price.si) * 3600.0, 0.20, 1e-12);
    EXPECT_DOUBLE_EQ(cpo->cluster.tiers[1].bandwidth.si, 100e9);
    EXPECT_DOUBLE_EQ(cpo->cluster.tiers[1].latency.si, 3e-6);
    EXPECT_DOUBLE_EQ(cpo->cluster.accelerator.peak_bf16.si, 400e12);
    EXPECT_DOUBLE_EQ(cpo->cluster.accelerator.peak_tf32.si, scenario.cluster.accelerator.peak_tf32.si);
    EXPECT_NEAR(cpo->reliability.node_failure_rate.si, 4.32e-3 / 86400.0, 1e-20);
    const double links_w = 100e9 * 34.0 * 8e-12 - scenario.cluster.tiers[1].bandwidth.si * 112.5 * 8e-12;
    EXPECT_NEAR(cpo->cluster.added_power.si - before->cluster.added_power.si, links_w - 3.0, 1e-9);
}

TEST(Bundles, RefuseWhatIsUnclear)
{
    const auto refused = [](const std::string& sections) {
        return refusal_of([&] { energetic("", sections); });
    };
    const auto changed = [](const std::string& from, const std::string& to) {
        std::string text = optics;
        return text.replace(text.find(from), from.size(), to);
    };
    EXPECT_EQ(refused(optics), "taken");
    EXPECT_THAT(refused(optics + parameter("of = \"latency\"\ntier = \"cluster\"\nvalues = [\"2 us\"]")),
                HasSubstr("sets cluster.latency, as the [[knob]] cluster.latency does"));
    EXPECT_THAT(
        refused(optics + parameter("of = \"link_energy\"\ntier = \"cluster\"\nvalues = [\"20 pJ/bit\"]")),
        HasSubstr("sets cluster.link_energy"));
    EXPECT_THAT(refused(changed("\"cpo\"", "\"pluggable\"")),
                HasSubstr("each option of a bundle has a name of its own"));
    EXPECT_THAT(refused(changed("\"cpo\"", "\"co packaged\"")), HasSubstr("is more than a word"));
    EXPECT_THAT(refused(changed("\"optics\"", "\"memory\"")),
                HasSubstr("is the name of another choice or figure"));
    EXPECT_THAT(refused(changed("of = \"latency\", tier = \"cluster\", value = \"3 us\"",
                                "of = \"bandwidth\", tier = \"cluster\", value = \"90 GB/s\"")),
                HasSubstr("sets cluster.bandwidth twice"));
    EXPECT_THAT(refused(changed("precision = \"bf16\"", "precision = \"nvfp4\"")),
                HasSubstr("has no peak rate to change"));
    EXPECT_THAT(refused(changed("value = \"3 us\"", "value = \"3 us\", energy = \"1 pJ/bit\"")),
                HasSubstr("has no effect"));
    EXPECT_THAT(refused(changed("value = \"3 us\"", "value = \"3 us\", precision = \"bf16\"")),
                HasSubstr("has no effect"));
    EXPECT_THAT(refused(changed("value = \"100 GB/s\"", "value = \"100 W\"")),
                HasSubstr("needs bytes per second"));
    EXPECT_THAT(refused("\n[[bundle]]\nname = \"optics\"\n"), HasSubstr("[[bundle.option]]"));
}

/// `good` with racks of 576 in 1152 GPUs.
Scenario racks(const std::string& domains, const std::string& outer = "576")
{
    std::string text = with("gpus = 64", "gpus = 1152");
    const std::string node = "group = 8\n";
    text.replace(text.find(node), node.size(),
                 node + "\n[[cluster.tier]]\nname = \"rack\"\nlink = \"ib-hdr\"\ngroup = " + outer + "\n");
    return parse_scenario(text + domains, "x.toml");
}

TEST(Nesting, OfDomainsIsSearched)
{
    const std::string domains = parameter("of = \"group\"\ntier = \"node\"\nvalues = [8, 72, 144, 288]");
    EXPECT_EQ(racks(domains).variants.size(), 4U);
    const std::string outer = parameter("of = \"group\"\ntier = \"rack\"\nvalues = [64, 576]");
    EXPECT_EQ(racks(domains + outer).variants.size(), 5U);  // of racks of 64 only with nodes of 8
}

/// A cluster that is not larger than one domain needs no network; its outer tiers join one unit.
TEST(Nesting, OfAClusterInOneDomain)
{
    const std::string whole = parameter("of = \"group\"\ntier = \"node\"\nvalues = [8, 64]");
    EXPECT_EQ(parse_scenario(good + whole, "x.toml").variants.size(), 2U);
    std::string one = with("group = 8", "group = 64");
    EXPECT_EQ(parse_scenario(one, "x.toml").cluster.tiers.size(), 1U);
}

TEST(Nesting, NamesThePairAndWhatWouldNest)
{
    const auto refused = [](const std::string& domains) { return refusal_of([&] { racks(domains); }); };
    EXPECT_THAT(
        refused(parameter("of = \"group\"\ntier = \"node\"\nvalues = [8, 100]")),
        HasSubstr(
            "has node.group = 100, which never nests (\"node\" of 100 GPUs and \"rack\" of 576: the outer "
            "size must be a "
            "larger multiple of the inner one); choose 96 or 144 for \"node\", or 500 or 600 for \"rack\""));
    EXPECT_THAT(refused(parameter("of = \"group\"\ntier = \"node\"\nvalues = [8, 576]")),
                HasSubstr("or 1152 for \"rack\""));
    EXPECT_THAT(refused(parameter("of = \"group\"\ntier = \"rack\"\nvalues = [576, 2304]")),
                HasSubstr("a group is larger than the cluster); choose 1152 GPUs or fewer for \"rack\""));
    const std::string bundle =
        "\n[[bundle]]\nname = \"domain\"\n\n[[bundle.option]]\nname = \"d100\"\nset = [{ of = \"group\", "
        "tier = "
        "\"node\", value = 100 }]\n";
    EXPECT_THAT(refused(bundle), HasSubstr("name = \"d100\" has d100, which never nests"));
}

}  // namespace
}  // namespace prismopt
