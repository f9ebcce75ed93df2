#include "io/scenario/variants.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario_notes.hpp"
#include "tests/io/good_scenario.hpp"
#include "tests/io/refusal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Variants, TextsHoldTheirValues)
{
    std::vector<StudyChoice> choices;
    ChosenValues values;
    for (const auto& [target, value] : {std::pair{HardwareTarget::bandwidth, 65.5e9},
                                        {HardwareTarget::latency, 1.25e-6},
                                        {HardwareTarget::aggregate, 1.5e12},
                                        {HardwareTarget::group, 72.0},
                                        {HardwareTarget::oversubscription, 3.5},
                                        {HardwareTarget::memory, 80e9},
                                        {HardwareTarget::memory_bandwidth, 3.35e12},
                                        {HardwareTarget::compute, 989.5e12},
                                        {HardwareTarget::power, 700.0}}) {
        choices.push_back(
            {.name = "tier." + std::string(name(target)), .hardware = HardwareParameter{.target = target}});
        values.emplace_back(HardwareLevel{value});
        EXPECT_FALSE(parameter_units(target).empty());
    }
    const std::string text = variant_text(choices, values);
    EXPECT_NE(text.find("tier.bandwidth=65.5GB/s tier.latency=1.25us "), std::string::npos) << text;
    EXPECT_NE(text.find(" tier.group=72 "), std::string::npos) << text;
    const auto read = variant_values(choices, text);
    ASSERT_TRUE(read.has_value());
    for (std::size_t k = 0; k < values.size(); ++k) {
        const double before = std::get<HardwareLevel>(values[k]).si;
        EXPECT_NEAR(std::get<HardwareLevel>((*read)[k]).si / before, 1.0, 1e-12) << choices[k].name;
    }
    EXPECT_EQ(variant_text(choices, *read), text);
}

/// In any unit; values of the choice are exactly those of the scenario.
TEST(Variants, AreFoundFromAnySpellingOfTheirValues)
{
    const std::vector<StudyChoice> choices{
        {.name = "memory",
         .values = {HardwareLevel{80e9}, HardwareLevel{40000.0 * 1048576.0}},
         .hardware = HardwareParameter{.target = HardwareTarget::memory}},
        {.name = "failure_rate",
         .values = {HardwareLevel{6.5e-3 / 86400.0}},
         .hardware = HardwareParameter{.target = HardwareTarget::failure_rate}}};
    const ChosenValues exact{choices[0].values[1], choices[1].values[0]};
    for (const char* text :
         {"memory=40000MiB failure_rate=6.5e-3/day", "memory=41.943GB failure_rate=0.0065/day"}) {
        EXPECT_EQ(variant_values(choices, text), exact) << text;
    }
    EXPECT_EQ(variant_text(choices, exact), "memory=41.943GB failure_rate=0.0065/day");
    const auto tuned = variant_values(choices, "memory=60GB failure_rate=0.0065/day");
    ASSERT_TRUE(tuned.has_value());
    EXPECT_DOUBLE_EQ(std::get<HardwareLevel>(tuned->front()).si, 60e9);
    EXPECT_FALSE(variant_values(choices, "memory=60 failure_rate=0.0065/day").has_value());
    EXPECT_FALSE(variant_values(choices, "memory=-60GB failure_rate=0.0065/day").has_value());
}

TEST(Variants, GroupsAreWholeNumbersOfGpus)
{
    const std::vector<StudyChoice> choices{
        {.name = "domain.group", .hardware = HardwareParameter{.target = HardwareTarget::group}}};
    EXPECT_TRUE(variant_values(choices, "domain.group=16").has_value());
    for (const char* text : {"0", "-8", "8.5", "1e12"}) {
        EXPECT_FALSE(variant_values(choices, fmt::format("domain.group={}", text)).has_value()) << text;
    }
}

TEST(Variants, TextsOfOtherChoicesHaveNone)
{
    const std::vector<StudyChoice> choices{{.name = "node.bandwidth", .hardware = HardwareParameter{}}};
    EXPECT_TRUE(variant_values(choices, "node.bandwidth=900GB/s").has_value());
    for (const char* text :
         {"", "node.bandwidth", "node.bandwidth=", "node.bandwidth=900GB", "node.latency=900GB/s",
          "node.bandwidth=xGB/s", "node.bandwidth=900GB/s node.group=8"}) {
        EXPECT_FALSE(variant_values(choices, text).has_value()) << text;
    }
}

TEST(Variants, OfAStudyWithoutChoicesAreItsJob)
{
    const Scenario scenario = parse_scenario(good, "good.toml");
    ASSERT_EQ(scenario.variants.size(), 1U);
    EXPECT_TRUE(scenario.variants.front().empty());
    const auto variant = variant_at(scenario, scenario.variants.front());
    ASSERT_TRUE(variant.has_value());
    EXPECT_EQ(variant->cluster.name, scenario.cluster.name);
    EXPECT_EQ(variant->longer, 1.0);
    EXPECT_EQ(variant->phases.size(), scenario.phases.size());
}

/// `good` with a second cluster of larger nodes.
std::string with_clusters(const std::string& second = "")
{
    std::string text = good;
    const std::size_t cluster = text.find("[cluster]");
    const std::size_t memory = text.find("[memory]");
    std::string section = text.substr(cluster, memory - cluster);
    const auto renamed = [&section](const std::string& name) {
        std::string own = section;
        own.replace(0, std::string("[cluster]").size(), "[[cluster]]\nname = \"" + name + "\"");
        return own;
    };
    std::string larger = renamed("racks");
    larger.replace(larger.find("group = 8"), std::string("group = 8").size(), "group = 32");
    larger.replace(larger.find("3.60 USD/h"), std::string("3.60 USD/h").size(), "4.80 USD/h");
    return text.substr(0, cluster) + renamed("nodes") + (second.empty() ? larger : second) +
           text.substr(memory);
}

TEST(Variants, ChooseWhatAJobDoesWhenANodeFails)
{
    const auto with = [](const std::string& space, const std::string& reliability) {
        std::string text = good;
        text.insert(text.find("[space]\n") + 8, space);
        text.insert(text.find("[reliability]\n") + 14, reliability);
        return text;
    };
    const std::string both = "recovery = [\"restart\", \"hot_spares\"]\n";
    const Scenario scenario = parse_scenario(with(both, "switch_time = \"2 min\"\n"), "good.toml");
    ASSERT_EQ(scenario.variants.size(), 2U);
    EXPECT_EQ(variant_text(scenario.choices, scenario.variants[1]), "recovery=hot_spares");
    EXPECT_EQ(variant_at(scenario, scenario.variants[0])->reliability.recovery, Recovery::restart);
    EXPECT_EQ(variant_at(scenario, scenario.variants[1])->reliability.recovery, Recovery::hot_spares);
    EXPECT_EQ(variant_at(scenario, scenario.variants[1])->reliability.switch_time.si, 120.0);
    const auto refusal = [](const std::string& text) {
        return refusal_of([&] { return parse_scenario(text, "good.toml"); });
    };
    EXPECT_THAT(refusal(with(both, "")), HasSubstr("switch_time"));
    EXPECT_THAT(refusal(with("recovery = [\"restart\"]\n", "switch_time = \"2 min\"\n")),
                HasSubstr("hot spares and fewer replicas only"));
}

/// How many combinations each conflict excludes, with the first of them.
std::vector<std::string> excluded_of(const Scenario& scenario)
{
    std::vector<std::string> all;
    for (const ExcludedVariants& of : scenario.variant_counts.excluded) {
        all.push_back(fmt::format("{} {}: {}", of.count, name(of.why.conflict), of.first));
    }
    return all;
}

/// `good` with racks of nodes, these keys of [search], and [[knob]]s.
std::string with_parameters(const std::string& search, const std::vector<std::string>& parameters)
{
    std::string text = good;
    text.insert(text.find("[[cluster.tier]]\nname = \"cluster\""),
                "[[cluster.tier]]\nname = \"rack\"\nlink = \"ib-hdr\"\ngroup = 16\n\n");
    const std::string section = "[search]\n";
    text.insert(text.find(section) + section.size(), search + "\n");
    for (const std::string& keys : parameters) {
        text += "\n[[knob]]\n" + keys + "\n";
    }
    return text;
}

TEST(Variants, CountWhatIsExcludedByConflict)
{
    const std::string nodes = "of = \"group\"\ntier = \"node\"\nvalues = [8, 16]";
    const std::string racks = "of = \"group\"\ntier = \"rack\"\nvalues = [16, 32]";
    const std::string power = "of = \"power\"\nvalues = [\"50 W\", \"400 W\"]";
    const std::string memory =
        "of = \"memory\"\nvalues = [\"1 MB\", \"80 GB\", \"160 GB\"]\n"
        "price = { per = \"10 GB\", cost = \"0.10 USD/h\" }";
    const Scenario scenario = parse_scenario(
        with_parameters("gpu_price_limit = \"4 USD/h\"", {nodes, racks, power, memory}), "good.toml");
    EXPECT_EQ(scenario.variant_counts.combinations, 24U);
    EXPECT_EQ(scenario.variants.size(), 3U);
    EXPECT_THAT(excluded_of(scenario),
                ElementsAre("9 no_clock_left: node.group=8 rack.group=16 power=50W memory=0.001GB",
                            "3 no_memory_left: node.group=8 rack.group=16 power=400W memory=0.001GB",
                            "3 price_over_limit: node.group=8 rack.group=16 power=400W memory=160GB",
                            "6 tiers_do_not_nest: node.group=16 rack.group=16 power=50W memory=0.001GB"));
    const ExcludedVariants& dear = scenario.variant_counts.excluded[2];
    EXPECT_THAT(excluded_text(dear),
                testing::StartsWith("price above gpu_price_limit (" + dear.first + "): a GPU costs 4."));
    const std::string rebate =
        "of = \"memory\"\nvalues = [\"40 GB\", \"80 GB\"]\nprice = { per = \"1 GB\", cost = \"0.10 USD/h\" }";
    EXPECT_THAT(excluded_of(parse_scenario(with_parameters("", {rebate}), "good.toml")),
                ElementsAre("1 no_price_left: memory=40GB"));
    const std::string option = "\n[[bundle.option]]\nname = ";
    const std::string links = "of = \"bandwidth\"\ntier = \"cluster\"\nvalues = [\"25 GB/s\", \"1600 GB/s\"]";
    std::string fast = with_parameters("", {links});
    fast.insert(fast.rfind("link = \"ib-hdr\""), "bandwidth = \"1600 GB/s\"\n");
    EXPECT_THAT(excluded_of(parse_scenario(fast, "good.toml")),
                ElementsAre("1 links_over_host: cluster.bandwidth=25GB/s"));
    const std::string bundle = std::string(good) + "\n[[bundle]]\nname = \"optics\"" + option + "\"a\"" +
                               option + "\"b\"\npower = \"-5000 W\"\n";
    EXPECT_THAT(excluded_of(parse_scenario(bundle, "good.toml")), ElementsAre("1 no_power_left: optics=b"));
    EXPECT_THAT(refusal_of([&] {
                    parse_scenario(with_parameters("", {"of = \"memory\"\nvalues = [\"1 MB\", \"2 MB\"]"}),
                                   "good.toml");
                }),
                HasSubstr("is possible:\n  2  hardware cannot be built (memory=0.001GB): "));
    EXPECT_TRUE(parse_scenario(good, "good.toml").variant_counts.excluded.empty());
}

TEST(HardwareParameters, OfAPrecisionThatNoNetworkUsesAreNoted)
{
    std::string text = good;
    text.replace(text.find("a100-sxm-80gb"), std::string("a100-sxm-80gb").size(), "h100-sxm");
    text +=
        "\n[[knob]]\nof = \"compute\"\nprecision = \"fp8\"\nvalues = [\"2000 TFLOP/s\", \"4000 TFLOP/s\"]\n";
    const auto notes = [](const std::string& of) { return scenario_notes(parse_scenario(of, "x.toml")); };
    EXPECT_THAT(notes(text), testing::Contains(testing::StartsWith("compute.fp8 changes no time, ")));
    std::string in_8_bits = text;
    in_8_bits.insert(in_8_bits.find("model = \"gpt-22b\""), "precision = \"fp8\"\n");
    EXPECT_THAT(notes(in_8_bits), testing::Not(testing::Contains(HasSubstr("changes no time"))));
}

TEST(HardwareParameters, ThatSomeDispatchesCannotFollowAreNoted)
{
    std::string text = good;
    text.replace(text.find("gpt-22b"), std::string("gpt-22b").size(), "deepseek-v3");
    text += "\n[[knob]]\nof = \"group\"\ntier = \"node\"\nvalues = [8, 16, 32]\n";
    const auto notes = [&](const std::string& keys) {
        std::string of = text;
        of.insert(of.find("tp = [8, 1, 2]"), keys + "\n");
        return scenario_notes(parse_scenario(of, "x.toml"));
    };
    const std::string experts = "ep = [1, 16]\n";
    EXPECT_THAT(notes(experts + "dispatch = [\"all-to-all\", \"deepep\"]"),
                testing::Contains(
                    testing::AllOf(HasSubstr("biased against nodes of 16, 32 GPUs"), HasSubstr("hybridep"))));
    for (const char* unbiased :
         {"dispatch = [\"all-to-all\"]", "dispatch = [\"all-to-all\", \"deepep\", \"hybridep\"]"}) {
        EXPECT_THAT(notes(experts + unbiased), testing::Not(testing::Contains(HasSubstr("biased"))));
    }
}

TEST(HardwareParameters, RefuseKeysThatWouldHaveNoEffect)
{
    const auto refused = [](const std::string& keys) {
        return refusal_of([&] { parse_scenario(good + "\n[[knob]]\n" + keys + "\n", "x.toml"); });
    };
    EXPECT_THAT(refused("of = \"memory\"\nvalues = [\"80 GB\"]\nrange = [\"80 GB\", \"160 GB\"]"),
                HasSubstr("is given together with values (a knob has either a list of values or a range)"));
    EXPECT_THAT(refused("of = \"compute\"\ntier = \"cluster\"\nvalues = [\"312 TFLOP/s\"]"),
                HasSubstr("has no effect (compute is not that of a tier)"));
}

TEST(Machines, AreChosenWhole)
{
    const Scenario scenario = parse_scenario(with_clusters(), "two.toml");
    ASSERT_EQ(scenario.choices.size(), 1U);
    EXPECT_EQ(scenario.choices.front().name, "cluster");
    EXPECT_THAT(scenario.choices.front().labels, ElementsAre("nodes", "racks"));
    ASSERT_EQ(scenario.variants.size(), 2U);
    EXPECT_EQ(variant_text(scenario.choices, scenario.variants[1]), "cluster=racks");
    const auto nodes = variant_at(scenario, scenario.variants[0]);
    const auto racks = variant_at(scenario, scenario.variants[1]);
    EXPECT_EQ(nodes->cluster.gpus_per_node(), 8);
    EXPECT_EQ(racks->cluster.gpus_per_node(), 32);
    EXPECT_NEAR(racks->cluster.gpu_price.si * 3600.0, 4.80, 1e-12);
    // Failures are given per node of the first cluster; per GPU they are the same.
    EXPECT_DOUBLE_EQ(nodes->reliability.node_failure_rate.si, scenario.reliability.node_failure_rate.si);
    EXPECT_DOUBLE_EQ(racks->reliability.node_failure_rate.si,
                     4.0 * scenario.reliability.node_failure_rate.si);
}

TEST(Machines, RefuseWhatBelongsToOne)
{
    const auto refused = [](const std::string& text) {
        return refusal_of([&] { parse_scenario(text, "two.toml"); });
    };
    std::string same = with_clusters();
    same.replace(same.find("\"racks\""), std::string("\"racks\"").size(), "\"nodes\"");
    EXPECT_THAT(refused(same), HasSubstr("is listed twice"));
    std::string unnamed = with_clusters();
    unnamed.erase(unnamed.find("name = \"racks\"\n"), std::string("name = \"racks\"\n").size());
    EXPECT_THAT(refused(unnamed), HasSubstr("name"));
    const std::string parameter =
        "\n[[knob]]\nof = \"bandwidth\"\ntier = \"node\"\nvalues = [\"300 GB/s\", \"600 GB/s\"]\n";
    EXPECT_THAT(refused(with_clusters() + parameter), HasSubstr("changes one cluster"));
}

}  // namespace
}  // namespace prismopt
