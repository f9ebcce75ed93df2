#include "io/base/input_error.hpp"
#include "io/scenario/reading/read_scenario.hpp"
#include "tests/io/good_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string node = "name = \"node\"\nlink = \"nvlink3\"\ngroup = 8\n";

std::string with_node(const std::string& lines) { return with(node, "name = \"pod\"\n" + lines); }

std::string topology_refusal(const std::string& lines)
{
    try {
        parse_scenario(with_node(lines), "x.toml");
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

const std::string grid = "topology = \"torus\"\nshape = [4, 2]\nwrap = [true, false]\n";
const std::string link = "link_bandwidth = \"90 GB/s\"\nefficiency = 0.9\nlatency = \"1 us\"\n";

TEST(Topology, OfATorusIsItsShape)
{
    const NetworkTier tier = parse_scenario(with_node(grid + link), "x.toml").cluster.tiers.front();
    EXPECT_EQ(tier.topology, Topology::torus);
    EXPECT_THAT(tier.shape, ElementsAre(4, 2));
    EXPECT_THAT(tier.wrap, ElementsAre(true, false));
    EXPECT_EQ(tier.group_gpus, 8);
    EXPECT_DOUBLE_EQ(tier.bandwidth.si, 90e9);
    EXPECT_DOUBLE_EQ(tier.efficiency, 0.9);
    // By a link of the catalog, with another bandwidth.
    EXPECT_DOUBLE_EQ(
        parse_scenario(with_node("link = \"ici-v5p\"\n" + grid + "link_bandwidth = \"45 GB/s\"\n"), "x.toml")
            .cluster.tiers[0]
            .bandwidth.si,
        45e9);
    EXPECT_DOUBLE_EQ(
        parse_scenario(with_node("link = \"ici-v5p\"\n" + grid), "x.toml").cluster.tiers[0].bandwidth.si,
        90e9);
    EXPECT_EQ(parse_scenario(with_node("link = \"xgmi4\"\ngroup = 8\ntopology = \"full_mesh\"\n"), "x.toml")
                  .cluster.tiers[0]
                  .topology,
              Topology::full_mesh);
}

TEST(Topology, IsRefusedWhereItCannotBe)
{
    EXPECT_EQ(topology_refusal(grid + link), "");
    EXPECT_THAT(topology_refusal(grid), HasSubstr("link_bandwidth"));
    EXPECT_THAT(topology_refusal(grid + link + "oversubscription = 2\n"), HasSubstr("oversubscription"));
    EXPECT_THAT(topology_refusal(grid + link + "group = 16\n"), HasSubstr("not the product of shape"));
    EXPECT_THAT(topology_refusal("topology = \"torus\"\nshape = [4, 2]\nwrap = [true]\n" + link),
                HasSubstr("1 values for 2 axes"));
    EXPECT_THAT(topology_refusal("topology = \"torus\"\nshape = [4, 2]\n" + link), HasSubstr("wrap"));
    EXPECT_THAT(topology_refusal("topology = \"torus\"\nwrap = [true]\n" + link), HasSubstr("shape"));
    EXPECT_THAT(topology_refusal("topology = \"torus\"\nshape = [3, 2]\nwrap = [true, true]\n" + link),
                HasSubstr("does not nest"));
    EXPECT_THAT(topology_refusal("topology = \"ring\"\n" + link), HasSubstr("full_mesh"));
    EXPECT_THAT(topology_refusal("shape = [4, 2]\ngroup = 8\nlink = \"nvlink3\"\n"), HasSubstr("shape"));
    for (const char* topology :
         {"topology = \"full_mesh\"\n", "topology = \"torus\"\nshape = [64]\nwrap = [true]\n"}) {
        EXPECT_THROW(parse_scenario(with("name = \"cluster\"\nlink = \"ib-hdr\"\noversubscription = 2\n",
                                         std::string("name = \"cluster\"\nlink = \"ib-hdr\"\n") + topology),
                                    "x.toml"),
                     InputError);
    }
}

TEST(Topology, OfATorusHasNeitherGroupNorOversubscriptionToVary)
{
    const auto varied = [](const std::string& keys) {
        try {
            parse_scenario(with_node(grid + link) + "\n[[knob]]\ntier = \"pod\"\n" + keys + "\n", "x.toml");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(varied("of = \"bandwidth\"\nvalues = [\"90 GB/s\", \"180 GB/s\"]"), "");
    EXPECT_THAT(varied("of = \"oversubscription\"\nvalues = [1, 4]"), HasSubstr("is a torus"));
    EXPECT_THAT(varied("of = \"group\"\nvalues = [8, 16]"), HasSubstr("is a torus"));
}

/// The TOML blocks of the guide, in order.
std::vector<std::string> examples_of_the_guide()
{
    std::ifstream file(PRISMOPT_SOURCE_DIR "/docs/accelerators.md");
    const std::string guide((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::string fence = "```toml\n";
    std::vector<std::string> blocks;
    for (auto at = guide.find(fence); at != std::string::npos; at = guide.find(fence, at + 1)) {
        const auto begin = at + fence.size();
        blocks.push_back(guide.substr(begin, guide.find("```", begin) - begin));
    }
    return blocks;
}

TEST(Topology, NodesAreInsideNetworks)
{
    const auto refusal = [](const std::string& inner, const std::string& outer) {
        try {
            parse_scenario(with(node,
                                node + "kind = \"" + inner +
                                    "\"\n[[cluster.tier]]\nname = \"rack\"\nlink = \"nvlink3\"\ngroup = "
                                    "16\nkind = \"" +
                                    outer + "\"\n"),
                           "x.toml");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(refusal("node", "node"), "");
    EXPECT_EQ(refusal("node", "network"), "");
    EXPECT_THAT(refusal("network", "node"), HasSubstr("outside"));
}

TEST(Topology, IsReadAsTheGuideShows)
{
    const std::vector<std::string> blocks = examples_of_the_guide();
    ASSERT_EQ(blocks.size(), 2U);
    const auto begin = good.find("[cluster]");
    const auto end = good.find("[memory]");
    const auto cluster_of = [&](const std::string& section) {
        return parse_scenario(good.substr(0, begin) + section + "\n" + good.substr(end), "x.toml").cluster;
    };
    const Cluster own = cluster_of(blocks[0]);
    EXPECT_EQ(own.accelerator.name, "b200-sxm (changed)");
    EXPECT_DOUBLE_EQ(own.accelerator.sustained_clock, 0.85);
    EXPECT_EQ(own.tiers.front().topology, Topology::full_mesh);
    const std::string network = "[[cluster.tier]]\nname = \"network\"\nlink = \"dcn-tpu\"\n";
    const Cluster pods =
        cluster_of("[cluster]\naccelerator = \"tpu-v4\"\ngpus = 512\n" + blocks[1] + network);
    EXPECT_THAT(pods.tiers.front().shape, ElementsAre(16, 16));
    EXPECT_EQ(pods.gpus_per_node(), 256);
}

}  // namespace
}  // namespace prismopt
