/// Networks as an axis of the space.

#include "io/base/input_error.hpp"
#include "io/scenario/variants.hpp"
#include "optimizer/study/hardware_bench.hpp"
#include "optimizer/study/study_model.hpp"
#include "tests/optimizer/designs_of.hpp"
#include "tests/optimizer/tiny_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* few_plans = "gpus = [8, 12]\ntp = [1, 2, 3]\npp = [1, 2, 3, 4]\n";

const std::string attention = "{ block = \"attention\", heads = 6 }, ";
const std::string shape = "hidden = 768\nvocabulary = 32000\nnormalisation = \"rms_norm\"\n";
/// 4 layers of 6 heads, and 2 of a state space with 8.
const std::string networks =
    "[networks.wide]\n" + shape + "layer.A = { blocks = [" + attention +
    "{ block = \"mlp\", inner = 3072 }] }\npattern = \"AAAA\"\n[networks.hybrid]\n" + shape +
    "layer.M = { blocks = [{ block = \"mamba2\", heads = 8, head = 96, groups = 8 }] }\npattern = \"MM\"\n";

/// The tiny study with other networks in place of its own.
std::string with_networks(const std::string& networks_text, const std::string& choice,
                          const std::string& search = "", const std::string& axes = few_plans)
{
    std::string text = tiny_scenario("gpus = [8]").text;
    const std::size_t workload = text.find("[workload]");
    text.replace(workload, text.find("[[phase]]") - workload, networks_text);
    text.resize(text.find("[space]"));
    return text + "[space]\n" + axes + choice + "\n[search]\n" + search;
}

/// Only that one of them.
std::string alone_text(const std::string& name)
{
    const std::size_t second = networks.find("[networks.hybrid]");
    return name == "wide" ? networks.substr(0, second) : networks.substr(second);
}

Scenario networks_scenario(const std::string& text) { return parse_scenario(text, "networks.toml"); }

/// A study of only that one of them: 3 divides no heads of the hybrid, which would be refused.
Scenario alone(const std::string& name)
{
    const std::string axes = name == "wide" ? few_plans : "gpus = [8, 12]\ntp = [1, 2]\npp = [1, 2, 3, 4]\n";
    return networks_scenario(with_networks(alone_text(name), "workload = [\"" + name + "\"]", "", axes));
}

/// Each has the plans that it has alone: 3 divides no heads of the hybrid, 4 stages are more than its layers.
TEST(NetworksAxis, HasThePlansOfEachNetworkAlone)
{
    const Scenario both = networks_scenario(with_networks(networks, R"(workload = ["wide", "hybrid"])"));
    ASSERT_EQ(both.variants.size(), 2U);
    EXPECT_EQ(variant_text(both.choices, both.variants[1]), "workload=hybrid");
    EXPECT_THAT(*variant_values(both.choices, "workload=hybrid"),
                ElementsAre(ChoiceValue(TrainedNetwork{1})));
    EXPECT_FALSE(variant_values(both.choices, "workload=other").has_value());
    const std::vector<std::string> names{"wide", "hybrid"};
    std::vector<std::size_t> counts;
    for (std::size_t v = 0; v < names.size(); ++v) {
        const Scenario only = alone(names[v]);
        EXPECT_EQ(designs_of(both, v), designs_of(only, 0)) << names[v];
        counts.push_back(designs_of(both, v).size());
    }
    EXPECT_GT(counts[0], counts[1]);
    EXPECT_GT(counts[1], 0U);
}

/// A variant is judged as a study of that network alone judges it.
TEST(NetworksAxis, JudgesEachNetworkAsAlone)
{
    const Scenario both = networks_scenario(with_networks(networks, R"(workload = ["wide", "hybrid"])"));
    const StudyModel model(both);
    HardwareBench bench(both, model.problem);
    const ParallelPlan plan{.tp = 2, .pp = 2, .dp = 2};
    for (std::size_t v = 0; v < 2; ++v) {
        const std::string name = both.workloads[v].name;
        EXPECT_EQ(bench.problem(v).workload.name, name);
        const Scenario only = alone(name);
        const StudyModel own(only);
        Predictor predictor(own.problem);
        const auto expected = predictor.bound(plan);
        const auto found = bench.of(v).bound(plan);
        ASSERT_TRUE(std::holds_alternative<NoiseFree>(expected));
        ASSERT_TRUE(std::holds_alternative<NoiseFree>(found));
        for (const Objective* objective : model.objectives) {
            EXPECT_EQ(objective->bound(std::get<NoiseFree>(found)),
                      objective->bound(std::get<NoiseFree>(expected)))
                << name;
        }
    }
}

TEST(NetworksAxis, TakesNetworksOfTheCatalogAndParametersBesides)
{
    const Scenario scenario = networks_scenario(with_networks(
        networks, R"(workload = ["llama2-7b", "wide", "hybrid"])",
        "[[knob]]\nof = \"bandwidth\"\ntier = \"cluster\"\nvalues = [\"5 GB/s\", \"50 GB/s\"]\n"));
    EXPECT_EQ(scenario.variants.size(), 6U);
    EXPECT_EQ(variant_text(scenario.choices, scenario.variants[2]), "workload=wide cluster.bandwidth=5GB/s");
    EXPECT_EQ(variant_at(scenario, scenario.variants[2])->workload.layers(), 4);
    EXPECT_EQ(variant_at(scenario, scenario.variants[1])->workload.layers(), 32);
}

TEST(NetworksAxis, RefusesNetworksOfOtherSamples)
{
    const auto refused = [](const std::string& choice) {
        return [=] { networks_scenario(with_networks("", "workload = [" + choice + "]")); };
    };
    EXPECT_THAT(refused(R"("llama3-8b", "wan-2.1-14b")"),
                ThrowsMessage<InputError>(HasSubstr("32760 tokens")));
    EXPECT_THAT(refused(R"("sdxl-unet", "wan-2.1-14b")"),
                ThrowsMessage<InputError>(HasSubstr("16384 tokens")));
    EXPECT_THAT(refused(R"("llama3-8b", "dlrm-dcnv2")"),
                ThrowsMessage<InputError>(HasSubstr("rows of tables")));
    EXPECT_THAT(refused(R"("llama3-8b", "bert-large")"),
                ThrowsMessage<InputError>(HasSubstr("masked tokens")));
    EXPECT_THAT(refused(R"("llama3-8b", "t5-v1.1-xl")"),
                ThrowsMessage<InputError>(HasSubstr("pairs of texts")));
    EXPECT_THAT(refused(R"("vit-h-14", "dit-xl-2")"), ThrowsMessage<InputError>(HasSubstr("for classes")));
    EXPECT_NO_THROW(networks_scenario(
        with_networks("", R"(workload = ["llama3-8b", "mamba2-2.7b"])", "", "gpus = [8]\ntp = [1, 2]\n")));
}

TEST(NetworksAxis, RefusesUnclearNetworks)
{
    const auto refused = [](const std::string& own, const std::string& choice) {
        return [=] { networks_scenario(with_networks(own, choice)); };
    };
    EXPECT_THAT(refused(networks, R"(workload = ["wide", "narrow"])"),
                ThrowsMessage<InputError>(HasSubstr("narrow")));
    EXPECT_THAT(refused(networks, R"(workload = ["wide", "wide"])"),
                ThrowsMessage<InputError>(HasSubstr("is listed twice")));
    EXPECT_THAT(refused(networks + "[workload]\nmodel = \"llama3-8b\"\n", R"(workload = ["wide", "hybrid"])"),
                ThrowsMessage<InputError>(HasSubstr("cannot be combined with [workload]")));
    EXPECT_THAT(refused(networks + "[workload]\nmodel = \"llama3-8b\"\n", ""),
                ThrowsMessage<InputError>(HasSubstr("are not used")));
    EXPECT_THAT(refused(networks, ""), ThrowsMessage<InputError>(HasSubstr("workload = [")));
    EXPECT_THAT(refused(networks, R"(workload = ["wide"])"), ThrowsMessage<InputError>(HasSubstr("hybrid")));
    EXPECT_THAT(refused("[networks.photo]\ncaptured = \"f.json\"\n", R"(workload = ["photo"])"),
                ThrowsMessage<InputError>(HasSubstr("captured")));
    EXPECT_THAT(refused("[networks.\"a b\"]\nmodel = \"llama3-8b\"\n", R"(workload = ["a b"])"),
                ThrowsMessage<InputError>(HasSubstr("names of one word")));
    EXPECT_THAT(refused("[networks.old]\nmodel = \"llama3-8b\"\nheads = 16\n", R"(workload = ["old"])"),
                ThrowsMessage<InputError>(HasSubstr("deprecated")));
    EXPECT_THAT(refused(networks,
                        "workload = [\"wide\", \"hybrid\"]\nsplit = [\"given\"]\nlayout = [\"Et*2|t*2L\"]"),
                ThrowsMessage<InputError>(HasSubstr("cannot be combined with several networks")));
    EXPECT_THAT(refused(networks, "workload = [\"wide\", \"hybrid\"]\nspares = [100]"),
                ThrowsMessage<InputError>(HasSubstr("100")));
}

}  // namespace
}  // namespace prismopt
