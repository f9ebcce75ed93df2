#include "io/scenario/sections/software.hpp"

#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario_notes.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace prismopt {
namespace {

using testing::HasSubstr;

const std::string section = "[software]\nname = \"reference\"\n\n";

std::string without_software()
{
    std::string text = good;
    text.erase(text.find(section), section.size());
    return text;
}

std::string with_software_named(const std::string& lines)
{
    std::string text = good;
    return text.replace(text.find(section), section.size(), "[software]\n" + lines + "\n\n");
}

TEST(Software, OfTheCatalogHasAllConstants)
{
    std::set<std::string> named{SoftwareStack{}.name};
    for (const std::string& name : Catalog::built_in().names(software_kind)) {
        for (const SoftwareRelease& release : catalog_software(name).releases) {
            EXPECT_EQ(software_of({name, release.name}).stack.borrowed, !release.measured)
                << name << ' ' << release.name;
            named.insert(release.constants);
        }
    }
    for (const std::string& constants : catalog_stacks()) {
        EXPECT_TRUE(named.contains(constants)) << constants;
    }
}

TEST(Software, IsPlausibleForAllAcceleratorsAndNetworks)
{
    for (const std::string& accelerator : catalog_accelerators()) {
        for (const std::string& network : catalog_workloads()) {
            const std::vector<PossibleSoftware> found =
                plausible_software(accelerator, catalog_workload(network));
            ASSERT_FALSE(found.empty()) << accelerator << ' ' << network;
            EXPECT_LE(found.size(), 6U) << accelerator;
            double total = 0.0;
            for (const PossibleSoftware& one : found) {
                total += one.weight;
                EXPECT_LE(one.weight, found.front().weight) << accelerator;
                EXPECT_FALSE(one.reason.empty());
            }
            EXPECT_NEAR(total, 1.0, 1e-12);
        }
    }
}

TEST(Software, IsOfTheScenarioOrAssumed)
{
    const Scenario named =
        parse_scenario(with_software_named("name = \"megatron-bridge\"\nrelease = \"25.11\""), "x");
    EXPECT_EQ(named.cluster.software.text(), "megatron-bridge 25.11");
    EXPECT_EQ(named.cluster.stack.name, "megatron-bridge-2025");
    EXPECT_TRUE(named.cluster.possible.empty());
    EXPECT_EQ(software_text(named), "");
    EXPECT_EQ(parse_scenario(with_software_named("name = \"megatron-bridge\""), "x").cluster.software.release,
              catalog_software("megatron-bridge").releases.front().name);
    const Scenario assumed = parse_scenario(without_software(), "x");
    ASSERT_GT(assumed.cluster.possible.size(), 1U);
    EXPECT_EQ(assumed.cluster.software.text(), assumed.cluster.possible.front().software.text());
    EXPECT_THAT(software_words(assumed.cluster), HasSubstr("(assumed)"));
    EXPECT_THAT(software_text(assumed), HasSubstr("software assumed: " + assumed.cluster.software.text()));
}

/// As init writes it: another software may be it, but the one that is named is predicted.
TEST(Software, ThatInitChoseIsAssumed)
{
    const Scenario none = parse_scenario(without_software(), "x");
    ASSERT_GT(none.cluster.possible.size(), 1U);
    for (const PossibleSoftware& one : none.cluster.possible) {
        const Software& named = one.software;
        const std::string release = named.release.empty() ? "" : "release = \"" + named.release + "\"\n";
        const Scenario assumed = parse_scenario(
            with_software_named("name = \"" + named.name + "\"\n" + release + "assumed = true"), "x");
        EXPECT_EQ(assumed.cluster.software.text(), named.text());
        EXPECT_EQ(assumed.cluster.possible.size(), none.cluster.possible.size());
        EXPECT_EQ(assumed.cluster.possible.front().software.text(), named.text());
        EXPECT_THAT(software_words(assumed.cluster), HasSubstr("(assumed)"));
    }
    EXPECT_THROW(parse_scenario(with_software_named("name = \"maxtext\"\nassumed = true"), "x"), InputError);
}

TEST(Software, OfOlderScenariosIsThatOfTheConstants)
{
    std::string text = without_software();
    const std::string cluster = "[cluster]\n";
    text.insert(text.find(cluster) + cluster.size(), "stack = \"megatron-bridge-2025\"\n");
    const Scenario older = parse_scenario(text, "x");
    const Scenario newer =
        parse_scenario(with_software_named("name = \"megatron-bridge\"\nrelease = \"25.11\""), "x");
    EXPECT_EQ(older.cluster.software.text(), newer.cluster.software.text());
    EXPECT_EQ(older.cluster.accelerator, newer.cluster.accelerator);
    EXPECT_THAT(older.older_keys,
                HasSubstr(R"(write [software] with name = "megatron-bridge", release = "25.11")"));
}

/// What the scenario says wins over the defaults of the program.
TEST(Software, BringsItsDefaults)
{
    const std::string bridge = with_software_named("name = \"megatron-bridge\"");
    const Scenario usual = parse_scenario(bridge, "x");
    EXPECT_EQ(usual.space.tp_overlap, std::vector{TensorParallelOverlap::on});
    EXPECT_EQ(usual.axes_of_software, std::vector<std::string>{"tp_overlap"});
    std::string own = bridge;
    own.insert(own.find("[space]\n") + 8, "tp_overlap = [\"off\"]\n");
    EXPECT_EQ(parse_scenario(own, "x").space.tp_overlap, std::vector{TensorParallelOverlap::off});
    EXPECT_TRUE(parse_scenario(own, "x").axes_of_software.empty());
    EXPECT_EQ(parse_scenario(good, "x").space.tp_overlap, std::vector{TensorParallelOverlap::off});
    std::string exported = bridge;
    // The export does not write them.
    exported.insert(exported.find("[search]\n") + 9, "runnable_by = \"bridge\"\n");
    EXPECT_EQ(parse_scenario(exported, "x").space.tp_overlap, std::vector{TensorParallelOverlap::off});
}

/// PyTorch FSDP has data parallelism alone.
TEST(Software, SaysWhatItLacks)
{
    EXPECT_THAT(lacking_text(parse_scenario(with_software_named("name = \"hf-fsdp\""), "x")),
                HasSubstr(", which hf-fsdp does not have"));
    EXPECT_EQ(lacking_text(parse_scenario(with_software_named("name = \"megatron-bridge\""), "x")), "");
    ParallelPlan plan;
    plan.tp = 8;
    plan.dp = 4;
    SpaceSettings levers;
    levers.tp = {1};
    levers.pp = {1};
    EXPECT_EQ(lacking(plan, levers), std::vector<std::string>{"tp=8"});
}

TEST(Software, ThatIsUnknownIsRefusedWithWhatThereIs)
{
    const auto message = [](const std::string& lines) {
        try {
            parse_scenario(with_software_named(lines), "x.toml");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(message("name = \"megatron-brigde\""), HasSubstr("did you mean \"megatron-bridge\"?"));
    EXPECT_THAT(message("name = \"megatron-bridge\"\nrelease = \"24.01\""),
                HasSubstr("releases: 26.06, 26.04, 25.11"));
}

/// A cluster with other software is the cluster that was read with it.
TEST(Software, IsExchangedAsIfItHadBeenRead)
{
    const Scenario assumed = parse_scenario(without_software(), "x");
    for (const PossibleSoftware& other : assumed.cluster.possible) {
        const Scenario read = parse_scenario(
            with_software_named(
                "name = \"" + other.software.name + "\"" +
                (other.software.release.empty() ? "" : "\nrelease = \"" + other.software.release + "\"")),
            "x");
        const Cluster exchanged = with_software(assumed.cluster, other);
        EXPECT_EQ(exchanged.software.text(), read.cluster.software.text());
        EXPECT_NEAR(exchanged.accelerator.efficiency.gemm, read.cluster.accelerator.efficiency.gemm, 1e-12);
        EXPECT_NEAR(exchanged.accelerator.efficiency.attention, read.cluster.accelerator.efficiency.attention,
                    1e-12);
        EXPECT_NEAR(exchanged.accelerator.efficiency.memory, read.cluster.accelerator.efficiency.memory,
                    1e-12);
        EXPECT_NEAR(exchanged.accelerator.launch.si, read.cluster.accelerator.launch.si, 1e-12);
        EXPECT_NEAR(exchanged.tiers.back().efficiency, read.cluster.tiers.back().efficiency, 1e-12);
        EXPECT_EQ(exchanged.stack.host, read.cluster.stack.host);
        EXPECT_EQ(exchanged.library.name, read.cluster.library.name);
    }
}

TEST(Software, NamesWhatItsJobsDoBesideTraining)
{
    Cluster cluster;
    cluster.software.name = "verl";
    EXPECT_THAT(omitted_text({&cluster}, Catalog::built_in()), HasSubstr("generation of rollouts"));
    cluster.software.name = "megatron-bridge";
    EXPECT_EQ(omitted_text({&cluster}, Catalog::built_in()), "");
}

}  // namespace
}  // namespace prismopt
