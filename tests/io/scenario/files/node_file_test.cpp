#include "io/scenario/files/node_file.hpp"
#include "io/base/input_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prismopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Cluster three_nodes()
{
    Cluster cluster;
    cluster.gpus = 24;
    cluster.tiers.resize(1);
    cluster.tiers.front().group_gpus = 8;
    return cluster;
}

std::string node_refusal(const std::string& text)
{
    try {
        parse_node_factors(text, "n.csv", three_nodes());
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(NodeFile, IsReadInAnyOrder)
{
    EXPECT_THAT(parse_node_factors("node,factor\n2,1.5\n0,1\n1,0.98\n", "n.csv", three_nodes()),
                ElementsAre(1.0, 0.98, 1.5));
}

TEST(NodeFile, MayOmitNodesThatAreDrawnOrNominal)
{
    Cluster cluster = three_nodes();
    EXPECT_THAT(parse_node_factors("node,factor\n2,1.5\n", "n.csv", cluster),
                ElementsAre(Cluster::drawn_node, Cluster::drawn_node, 1.5));
    cluster.unlisted_nodes = UnlistedNodes::nominal;
    EXPECT_THAT(parse_node_factors("node,factor\n2,1.5\n", "n.csv", cluster), ElementsAre(1.0, 1.0, 1.5));
}

TEST(NodeFile, OfAnotherClusterIsRefused)
{
    EXPECT_THAT(
        node_refusal("node,factor\n0,1\n1,1\n2,1\n3,1\n"),
        HasSubstr("n.csv: describes another cluster: it has 4 nodes, [cluster] has 3 (24 GPUs, 8 per node)"));
    EXPECT_THAT(node_refusal("node,factor\n0,1\n1,1\n1,1\n"),
                HasSubstr("n.csv:4: node '1' does not exist or is listed twice"));
    EXPECT_THAT(node_refusal("node,factor\n0,1\n1,1\n3,1\n"), HasSubstr("n.csv:4: node '3' does not exist"));
    EXPECT_THAT(node_refusal("node,factor\n0,1\n1,nan\n2,1\n"),
                HasSubstr("n.csv:3: factor 'nan' is not between"));
    EXPECT_THAT(node_refusal("name,slow\na,1\nb,1\nc,2\n"), HasSubstr("node ''"));
}

}  // namespace
}  // namespace prismopt
