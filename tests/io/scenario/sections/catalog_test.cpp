#include "io/scenario/sections/catalog.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "io/scenario/scenario.hpp"
#include "io/toml/catalog_file.hpp"
#include "io/words/infeasible_text.hpp"
#include "model/network/network.hpp"
#include "model/plan_rules.hpp"
#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Catalog, EmbedsTheFilesByteForByte)
{
    const auto files = catalog_files();
    const std::filesystem::directory_iterator folder(PRISMOPT_SOURCE_DIR "/model/catalog");
    ASSERT_EQ(files.size(), static_cast<std::size_t>(std::distance(begin(folder), end(folder))));
    for (const EmbeddedFile& file : files) {
        std::ifstream stream(PRISMOPT_SOURCE_DIR "/model/catalog/" + file.name, std::ios::binary);
        ASSERT_TRUE(stream) << file.name;
        EXPECT_EQ(file.text, std::string(std::istreambuf_iterator<char>(stream), {})) << file.name;
    }
}

/// The catalog's lines for an accelerator that a scenario has.
std::string cluster_of(const std::string& accelerator, const std::string& more)
{
    return with("accelerator = \"a100-sxm-80gb\"\ngpus = 64\ngpu_price = \"3.60 USD/h\"",
                "accelerator = \"" + accelerator + "\"\ngpus = 64\n" + more);
}

std::string refusal_of(const std::string& scenario)
{
    try {
        parse_scenario(scenario, "x.toml");
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

/// A figure without a public source is not in the catalog, and a scenario that needs it
/// is refused with the key to give.
TEST(Catalog, OmitsWhatNoPublicSourceStates)
{
    int priced = 0;
    int complete = 0;
    for (const std::string& name : catalog_accelerators()) {
        const auto price = list_price(name);
        const Accelerator accelerator = catalog_accelerator(name);
        priced += price ? 1 : 0;
        EXPECT_TRUE(!price || (price->price.si > 0.0 && price->source.size() > 10U)) << name;
        std::string changes;
        for (const auto& [given, key, value] :
             {std::tuple{accelerator.memory_bandwidth.si > 0.0, "memory_bandwidth", "2 TB/s"},
              {accelerator.power.si > 0.0, "power", "300 W"}}) {
            if (!given) {
                EXPECT_THAT(refusal_of(cluster_of(name, "gpu_price = \"1 USD/h\"\n" + changes)),
                            HasSubstr(key))
                    << name;
                changes += std::string("accelerator_override.") + key + " = \"" + value + "\"\n";
            }
        }
        EXPECT_EQ(refusal_of(cluster_of(name, "gpu_price = \"1 USD/h\"\n" + changes)), "") << name;
        const std::string without_price = refusal_of(cluster_of(name, changes));
        if (price) {
            EXPECT_EQ(without_price, "") << name;
        } else {
            EXPECT_THAT(without_price, HasSubstr("gpu_price = ")) << name;
        }
        complete += changes.empty() ? 1 : 0;
    }
    EXPECT_EQ(list_price("h100-sxm-96gb-hbm2e")->source, "assumption: as the 80 GB card");
    EXPECT_EQ(list_price("h20"), std::nullopt);
    EXPECT_GT(priced, 10);
    EXPECT_GT(complete, 15);
}

TEST(Catalog, EveryEntryLoads)
{
    EXPECT_THAT(catalog_accelerators(),
                ElementsAre("a10", "a100-pcie-40gb", "a100-pcie-80gb", "a100-sxm-40gb", "a100-sxm-80gb",
                            "a10g", "a30", "a40", "a800-sxm-80gb", "ascend-910b", "b200-sxm", "b300-sxm",
                            "gaudi2", "gaudi3", "gaudi3-pcie", "gb10", "gb200", "gb300", "gh200",
                            "gh200-144gb", "h100-nvl", "h100-pcie", "h100-sxm", "h100-sxm-96gb-hbm2e", "h20",
                            "h200-nvl", "h200-sxm", "h800-sxm", "l20", "l4", "l40", "l40s", "mi210", "mi250x",
                            "mi300a", "mi300x", "mi325x", "mi355x", "rtx-3090", "rtx-4000-ada", "rtx-4090",
                            "rtx-5000-ada", "rtx-5090", "rtx-6000-ada", "rtx-a5000", "rtx-a6000",
                            "rtx-pro-5000", "rtx-pro-6000", "rtx-pro-6000-max-q", "rtx-pro-6000-server", "t4",
                            "tpu-7x", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "trainium1", "trainium2",
                            "v100-pcie-16gb", "v100-pcie-32gb", "v100-sxm2-32gb"));
    EXPECT_THAT(catalog_links(), testing::IsSupersetOf({"ib-hdr", "ib-ndr", "nvlink2", "nvlink3", "nvlink4",
                                                        "nvlink5", "xgmi4", "roce-400g"}));
    EXPECT_THAT(catalog_workloads(),
                testing::IsSupersetOf({"gpt-1t", "gpt-22b", "gpt-530b", "gpt3-175b", "llama3-405b",
                                       "llama3-70b", "llama3-8b", "mixtral-8x7b", "mixtral-8x22b",
                                       "deepseek-v3", "nemotron4-340b"}));
    EXPECT_THAT(catalog_variabilities(), ElementsAre("hpc-2024", "screened-2025"));
    for (const std::string& name : catalog_stacks()) {
        EXPECT_EQ(catalog_stack(name).name, name);
    }
    for (const std::string& name : catalog_accelerators()) {
        const Accelerator accelerator = catalog_accelerator(name);
        EXPECT_EQ(accelerator.name, name);
        EXPECT_GT(accelerator.memory, accelerator.memory_reserved);
    }
    for (const std::string& name : catalog_links()) {
        EXPECT_GT(catalog_link(name).bandwidth.si, 1e8) << name;
    }
    for (const std::string& name : catalog_workloads()) {
        EXPECT_EQ(catalog_workload(name).name, name);
    }
}

/// A figure without a source on its line cannot be checked.
TEST(Catalog, EveryNumberHasItsSourceOnItsLine)
{
    for (const EmbeddedFile& file : catalog_files()) {
        if (file.name == "published_runs.csv" || file.name == "batch_runs.toml" ||
            file.name == "kernel_names.toml" || file.name == "fit.toml" || file.name == "discrepancy.toml" ||
            file.name == "numerics.toml" || file.name == "families.toml" || file.name == "software.toml" ||
            file.name == "plausible_software.toml") {
            // Each run, table and row of names has one source for all, or a reason, which its reader
            // requires; the others name the command that wrote them.
            continue;
        }
        std::istringstream lines(file.text);
        int figures = 0;
        for (std::string line; std::getline(lines, line);) {
            const auto equals = line.find(" = ");
            if (line.starts_with('#') || equals == std::string::npos || line.starts_with("source") ||
                line.starts_with("family") || line.starts_with("kind")) {
                continue;
            }
            ++figures;
            const bool sourced =
                line.find('#') != std::string::npos || line.find("source = ") != std::string::npos;
            EXPECT_TRUE(sourced) << file.name << ": " << line;
        }
        EXPECT_GE(figures, 3) << file.name;  // of the shortest: three correlations
    }
}

/// By whole words: a100-pcie-80gb is no a100 with NVLink, and gb10 no gb200.
TEST(Catalog, FindsTheUsualClusterOfEachAccelerator)
{
    const std::map<std::string, std::pair<int, std::string>> expected{
        {"a10", {4, "pcie4-x16"}},
        {"a100-pcie-40gb", {8, "pcie4-x16"}},
        {"a100-pcie-80gb", {8, "pcie4-x16"}},
        {"a100-sxm-40gb", {8, "nvlink3"}},
        {"a100-sxm-80gb", {8, "nvlink3"}},
        {"a10g", {4, "pcie4-x16"}},
        {"a30", {4, "pcie4-x16"}},
        {"a40", {4, "pcie4-x16"}},
        {"a800-sxm-80gb", {8, "nvlink3-a800"}},
        {"ascend-910b", {8, "hccs"}},
        {"b200-sxm", {8, "nvlink5"}},
        {"b300-sxm", {8, "nvlink5"}},
        {"gaudi2", {8, "gaudi2-mesh"}},
        {"gaudi3", {8, "gaudi3-mesh"}},
        {"gaudi3-pcie", {8, "pcie5-x16"}},
        {"gb10", {1, "pcie5-x16"}},
        {"gb200", {72, "nvlink5"}},
        {"gb300", {72, "nvlink5"}},
        {"gh200", {4, "nvlink4"}},
        {"gh200-144gb", {4, "nvlink4"}},
        {"h100-nvl", {8, "pcie5-x16"}},
        {"h100-pcie", {8, "pcie5-x16"}},
        {"h100-sxm", {8, "nvlink4"}},
        {"h100-sxm-96gb-hbm2e", {8, "nvlink4"}},
        {"h20", {8, "nvlink4"}},
        {"h200-nvl", {8, "pcie5-x16"}},
        {"h200-sxm", {8, "nvlink4"}},
        {"h800-sxm", {8, "nvlink4-h800"}},
        {"l20", {8, "pcie4-x16"}},
        {"l4", {8, "pcie4-x16"}},
        {"l40", {8, "pcie4-x16"}},
        {"l40s", {8, "pcie4-x16"}},
        {"mi210", {4, "xgmi3-mi210"}},
        {"mi250x", {8, "xgmi3-mi250x"}},
        {"mi300a", {4, "xgmi4-mi300a"}},
        {"mi300x", {8, "xgmi4"}},
        {"mi325x", {8, "xgmi4"}},
        {"mi355x", {8, "xgmi4-mi355x"}},
        {"rtx-3090", {8, "pcie4-x16"}},
        {"rtx-4000-ada", {8, "pcie4-x16"}},
        {"rtx-4090", {8, "pcie4-x16"}},
        {"rtx-5000-ada", {8, "pcie4-x16"}},
        {"rtx-5090", {8, "pcie5-x16"}},
        {"rtx-6000-ada", {8, "pcie4-x16"}},
        {"rtx-a5000", {8, "pcie4-x16"}},
        {"rtx-a6000", {8, "pcie4-x16"}},
        {"rtx-pro-5000", {8, "pcie5-x16"}},
        {"rtx-pro-6000", {8, "pcie5-x16"}},
        {"rtx-pro-6000-max-q", {8, "pcie5-x16"}},
        {"rtx-pro-6000-server", {8, "pcie5-x16"}},
        {"t4", {4, "pcie3-x16"}},
        {"tpu-7x", {4096, "ici-7x"}},
        {"tpu-v4", {4096, "ici-v4"}},
        {"tpu-v5e", {256, "ici-v5e"}},
        {"tpu-v5p", {4096, "ici-v5p"}},
        {"tpu-v6e", {256, "ici-v6e"}},
        {"trainium1", {16, "neuronlink-v2"}},
        {"trainium2", {16, "neuronlink-v3"}},
        {"v100-pcie-16gb", {4, "pcie3-x16"}},
        {"v100-pcie-32gb", {4, "pcie3-x16"}},
        {"v100-sxm2-32gb", {8, "nvlink2"}}};
    for (const std::string& name : catalog_accelerators()) {
        const auto found = usual_cluster(name);
        ASSERT_TRUE(found && expected.contains(name)) << name;
        EXPECT_EQ(std::pair(found->node_gpus, found->node_link), expected.at(name)) << name;
        EXPECT_NE(catalog_link(found->network_link).kind, TierKind::node) << name;
        EXPECT_NO_THROW(catalog_link(found->node_link)) << name;
        if (!found->bridge.empty()) {
            EXPECT_EQ(catalog_link(found->bridge).kind, TierKind::node) << name;
        }
    }
    EXPECT_FALSE(usual_cluster("a1000"));
    EXPECT_FALSE(usual_cluster("l400"));
    EXPECT_EQ(usual_cluster("gb200-x")->node_gpus, 72);
}

/// With links and accelerators of the catalog; no instance has more ports than its GPUs use.
TEST(Catalog, HasInstancesOfClouds)
{
    const std::vector<std::string> names = Catalog::built_in().names(instances_kind);
    EXPECT_GE(names.size(), 40U);
    for (const std::string& name : names) {
        const Instance instance = catalog_instance(name);
        EXPECT_NO_THROW(catalog_accelerator(instance.accelerator)) << name;
        const NetworkTier link = catalog_link(instance.network_link);
        EXPECT_EQ(link.kind, TierKind::network) << name;
        EXPECT_LE(instance.network.si, instance.gpus * link.bandwidth.si * (1.0 + 1e-9)) << name;
        EXPECT_GT(instance.source.size(), 10U) << name;
        EXPECT_EQ(instance.list.price.si > 0.0, !instance.list.source.empty()) << name;
        EXPECT_TRUE(instance.node_link.empty() || catalog_link(instance.node_link).kind == TierKind::node)
            << name;
    }
    const Instance p5en = catalog_instance("p5en.48xlarge");
    EXPECT_EQ(p5en.accelerator, "h200-sxm");
    EXPECT_EQ(p5en.gpus, 8);
    EXPECT_DOUBLE_EQ(p5en.network.si, 400e9);
}

/// Rules that judge a single value judge it beside defaults, which must break none of them.
TEST(Catalog, DefaultsOfPlansFitEveryNetwork)
{
    const Scenario scenario = parse_scenario(std::string(good), "x.toml");
    for (const std::string& name : catalog_workloads()) {
        const auto problem =
            value_problem({}, Job{.workload = catalog_workload(name), .cluster = scenario.cluster});
        EXPECT_FALSE(problem.has_value()) << name << ": " << infeasible_text(*problem);
    }
}

TEST(Catalog, KnownFigures)
{
    const Accelerator h100 = catalog_accelerator("h100-sxm");
    EXPECT_DOUBLE_EQ(h100.peak_bf16.si, 989.4e12);
    EXPECT_EQ(h100.multiprocessors, 132);
    EXPECT_DOUBLE_EQ(h100.memory.si, 81559.0 * 1048576.0);
    EXPECT_DOUBLE_EQ(h100.memory_bandwidth.si, 3.35e12);
    EXPECT_DOUBLE_EQ(h100.power.si, 700.0);
    EXPECT_DOUBLE_EQ(catalog_accelerator("a100-sxm-80gb").memory_bandwidth.si, 2.039e12);
    EXPECT_DOUBLE_EQ(catalog_accelerator("rtx-4090").memory.si, 24564.0 * 1048576.0);
    EXPECT_DOUBLE_EQ(catalog_accelerator("rtx-4090").peak_bf16.si, 165.2e12);
    // Shares its memory with the host: nothing to offload to.
    EXPECT_DOUBLE_EQ(catalog_accelerator("gb10").host_link.si, 0.0);
    EXPECT_DOUBLE_EQ(catalog_link("nvlink4").bandwidth.si, 450e9);
    EXPECT_DOUBLE_EQ(catalog_link("eth-10g").bandwidth.si, 1.25e9);
    EXPECT_DOUBLE_EQ(catalog_link("ib-hdr").bandwidth.si, 25e9);
    EXPECT_DOUBLE_EQ(catalog_link("roce-400g").bandwidth.si, 50e9);
}

TEST(Catalog, VariabilityProfile)
{
    const Variability hpc = catalog_variability("hpc-2024");
    EXPECT_DOUBLE_EQ(std::get<Normal>(hpc.gpu.family).cv, 0.016);
    EXPECT_DOUBLE_EQ(hpc.gpu.slow.probability, 0.0128);
    EXPECT_DOUBLE_EQ(hpc.gpu.slow.excess, 0.089);
    EXPECT_TRUE(std::holds_alternative<Constant>(hpc.site.family));
    EXPECT_DOUBLE_EQ(std::get<LogNormal>(residual_distribution(hpc, KernelClass::p2p).family).cv, 0.30);
    EXPECT_DOUBLE_EQ(std::get<LogNormal>(residual_distribution(hpc, KernelClass::gemm).family).cv, 0.02);
    for (const KernelClassRow& row : kernel_class_rows) {
        EXPECT_FALSE(residual_distribution(hpc, row.kernel).source.empty()) << row.name;
    }
    EXPECT_THAT(hpc.gpu.source, HasSubstr("Longhorn"));
}

TEST(Catalog, UnknownNameShowsTheNearest)
{
    try {
        catalog_accelerator("h100-smx");
        FAIL() << "accepted";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::StartsWith(
                                      "\"h100-smx\" is not in the catalog (entries: a10, a100-pcie-40gb, "));
        EXPECT_THAT(error.what(), HasSubstr("); did you mean \"h100-sxm\"?"));
    }
    EXPECT_THROW(catalog_link("wet-string"), InputError);
    EXPECT_THROW(catalog_workload("llama4"), InputError);
    EXPECT_THROW(catalog_variability(""), InputError);
}

}  // namespace
}  // namespace prismopt
