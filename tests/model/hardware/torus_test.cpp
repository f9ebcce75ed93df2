#include "model/hardware/torus.hpp"

#include "model/hardware/collective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace prismopt {
namespace {

using namespace literals;

constexpr double link = 45e9;        // bytes per second, one way: TPU v5e
constexpr double both = 2.0 * link;  // W of jax-ml/scaling-book, sharding.md
constexpr double hop = 1e-6;
constexpr double large = 1e9;  // bytes: bandwidth counts, latency does not

NetworkTier torus(std::vector<int> shape, std::vector<bool> wrap)
{
    NetworkTier tier{.name = "pod", .bandwidth = BytesPerSecond{link}, .latency = Seconds{hop}};
    tier.group_gpus = 1;
    for (const int length : shape) {
        tier.group_gpus *= length;
    }
    tier.topology = Topology::torus;
    tier.shape = std::move(shape);
    tier.wrap = std::move(wrap);
    return tier;
}

/// Members inside one torus.
Group inside(int size, int stride) { return {.size = size, .tiers = {}, .in_torus = {{size, stride}}}; }

double seconds_of_torus(Collective kind, double bytes, const Spacing& group, const NetworkTier& tier)
{
    return torus_time(kind, Bytes{bytes}, inside(group.count, group.stride), tier).si;
}

double others(double members) { return (members - 1.0) / members; }

TEST(Torus, HasTwoLinksPerRingAndFewerPerLine)
{
    EXPECT_DOUBLE_EQ(links_of_gpu(torus({8, 8, 8}, {true, true, true})), 6.0);
    EXPECT_DOUBLE_EQ(links_of_gpu(torus({16, 4}, {true, false})), 2.0 + 2.0 * 3.0 / 4.0);
    EXPECT_DOUBLE_EQ(links_of_gpu(torus({4, 1, 1}, {true, true, false})), 2.0);
}

/// V / (k W), 2 V / (k W) and V / (4 W): the last of V bytes over all members.
TEST(Torus, HasTheClosedFormsOfRings)
{
    const NetworkTier pod = torus({16, 16}, {true, true});
    for (const auto& [group, axes] :
         {std::pair{Spacing{16, 1}, 1.0}, {Spacing{16, 16}, 1.0}, {Spacing{256, 1}, 2.0}}) {
        const double gather = others(group.count) * large / (axes * both);
        EXPECT_DOUBLE_EQ(seconds_of_torus(Collective::all_gather, large, group, pod), gather);
        EXPECT_DOUBLE_EQ(seconds_of_torus(Collective::reduce_scatter, large, group, pod), gather);
        EXPECT_DOUBLE_EQ(seconds_of_torus(Collective::all_reduce, large, group, pod), 2.0 * gather);
        EXPECT_NEAR(gather / (large / (axes * both)), 1.0, 1.0 / group.count + 1e-12);
    }
    const double whole = large * 16.0;  // of the 16 members, each with `large`
    EXPECT_DOUBLE_EQ(seconds_of_torus(Collective::all_to_all, large, {16, 1}, pod), whole / (4.0 * both));
    EXPECT_DOUBLE_EQ(seconds_of_torus(Collective::all_to_all, large, {16, 16}, pod), whole / (4.0 * both));
}

/// Without wrap-around half the bandwidth and up to twice the hops.
TEST(Torus, IsSlowerWithoutWrap)
{
    const NetworkTier ring = torus({16}, {true});
    const NetworkTier line = torus({16}, {false});
    for (const Collective kind : {Collective::all_gather, Collective::all_reduce, Collective::all_to_all}) {
        EXPECT_DOUBLE_EQ(seconds_of_torus(kind, large, {16, 1}, line),
                         2.0 * seconds_of_torus(kind, large, {16, 1}, ring));
        EXPECT_DOUBLE_EQ(seconds_of_torus(kind, 1.0, {16, 1}, ring),
                         (kind == Collective::all_reduce ? 2.0 : 1.0) * 8.0 * hop);
        EXPECT_DOUBLE_EQ(seconds_of_torus(kind, 1.0, {16, 1}, line),
                         (kind == Collective::all_reduce ? 2.0 : 1.0) * 15.0 * hop);
    }
    // A part of an axis is a line, whether or not the axis is closed.
    EXPECT_DOUBLE_EQ(seconds_of_torus(Collective::all_gather, large, {4, 1}, ring),
                     others(4.0) * large / link);
}

/// All-to-all over a whole torus: V / (4 A W), with A chips in the section across the longest axis.
TEST(Torus, IsLimitedByItsBisection)
{
    const NetworkTier pod = torus({4, 8, 16}, {true, true, true});
    const double members = 4.0 * 8.0 * 16.0;
    EXPECT_DOUBLE_EQ(seconds_of_torus(Collective::all_to_all, large, {512, 1}, pod),
                     members * large / (4.0 * (4.0 * 8.0) * both));
    // For side s the time of as many bytes per chip grows like s.
    const double small =
        seconds_of_torus(Collective::all_to_all, large, {64, 1}, torus({4, 4, 4}, {true, true, true}));
    const double big =
        seconds_of_torus(Collective::all_to_all, large, {4096, 1}, torus({16, 16, 16}, {true, true, true}));
    EXPECT_DOUBLE_EQ(big, 4.0 * small);
}

/// Strides of placement decide which axes a group has: one part of an axis, several
/// axes, or every second chip of one.
TEST(Torus, MapsGroupsToAxes)
{
    const NetworkTier pod = torus({4, 8, 16}, {true, true, true});
    const auto spans = [&pod](int size, int stride) {
        std::vector<std::vector<int>> shown;
        for (const AxisSpan& span : axis_spans(inside(size, stride), pod)) {
            shown.push_back({span.members, span.spacing, span.ring ? 1 : 0});
        }
        return shown;
    };
    using Spans = std::vector<std::vector<int>>;
    EXPECT_EQ(spans(4, 1), (Spans{{4, 1, 1}, {1, 1, 0}, {1, 1, 0}}));
    EXPECT_EQ(spans(2, 1), (Spans{{2, 1, 0}, {1, 1, 0}, {1, 1, 0}}));
    EXPECT_EQ(spans(2, 2), (Spans{{2, 2, 1}, {1, 1, 0}, {1, 1, 0}}));
    EXPECT_EQ(spans(8, 4), (Spans{{1, 1, 0}, {8, 1, 1}, {1, 1, 0}}));
    EXPECT_EQ(spans(8, 1), (Spans{{4, 1, 1}, {2, 1, 0}, {1, 1, 0}}));
    EXPECT_EQ(spans(32, 16), (Spans{{1, 1, 0}, {2, 4, 1}, {16, 1, 1}}));
    EXPECT_EQ(spans(512, 1), (Spans{{4, 1, 1}, {8, 1, 1}, {16, 1, 1}}));
    for (const int stride : {1, 2, 4, 8, 16, 32, 64, 128}) {
        for (int size = 2; size * stride <= 512; size *= 2) {
            int members = 1;
            for (const AxisSpan& span : axis_spans(inside(size, stride), pod)) {
                members *= span.members;
            }
            EXPECT_EQ(members, size) << stride;
        }
    }
}

/// Groups between whose members others lie share the links with these.
TEST(Torus, SharesLinksAmongInterleavedGroups)
{
    const NetworkTier pod = torus({16}, {true});
    EXPECT_DOUBLE_EQ(seconds_of_torus(Collective::all_gather, large, {8, 2}, pod),
                     others(8.0) * large / (both / 2.0));
}

TEST(Torus, SendsMessagesTheShortestWay)
{
    const NetworkTier pod = torus({4, 4}, {true, false});
    const auto message = [&pod](int from, int to) {
        return torus_message_time(Bytes{large}, from, to, pod).si;
    };
    EXPECT_EQ(message(5, 5), 0.0);
    EXPECT_DOUBLE_EQ(message(0, 1), hop + large / link);
    EXPECT_DOUBLE_EQ(message(0, 3), hop + large / link);  // round the ring
    // Along the line, with the messages of those between.
    EXPECT_DOUBLE_EQ(message(0, 12), 3.0 * hop + 3.0 * large / link);
    EXPECT_DOUBLE_EQ(message(0, 5), 2.0 * hop + large / link);  // along both axes at once
}

/// Inside and beyond a pod: the same collectives through collective_time().
TEST(Torus, IsATierOfACluster)
{
    Cluster cluster;
    cluster.gpus = 1024;
    cluster.tiers = {torus({16, 16}, {true, true}),
                     {"network", 1024, BytesPerSecond{6.25e9}, 1.0, 10_us, 1.0}};
    const auto time = [&cluster](Collective kind, const Spacing& group) {
        return collective_time(kind, Bytes{large}, group, cluster);
    };
    EXPECT_EQ(time(Collective::all_gather, {256, 1}).algorithm, Algorithm::torus);
    EXPECT_DOUBLE_EQ(time(Collective::all_gather, {256, 1}).time.si, others(256.0) * large / (2.0 * both));
    EXPECT_DOUBLE_EQ(time(Collective::all_to_all, {16, 1}).time.si, 16.0 * large / (4.0 * both));
    const CollectiveTime beyond = time(Collective::all_gather, {1024, 1});
    EXPECT_EQ(beyond.algorithm, Algorithm::hierarchical);
    const double across = others(4.0) * large / 256.0 / 6.25e9 + 3.0 * 10e-6;
    EXPECT_NEAR(beyond.time.si, others(256.0) * large / (2.0 * both) + across, 1e-4 * beyond.time.si);
    EXPECT_GT(time(Collective::all_to_all, {1024, 1}).time.si,
              time(Collective::all_to_all, {256, 1}).time.si);
    EXPECT_DOUBLE_EQ(point_to_point_time(Bytes{large}, 0, 16, 16, cluster).si, hop + large / link);
    EXPECT_DOUBLE_EQ(point_to_point_time(Bytes{large}, 256, 257, 1, cluster).si, hop + large / link);
}

/// In a full mesh, a pair of 8 has one of 7 links: MI300X reaches 47.7 GB/s between two, 312.9 of 448 among
/// eight (stas00/ml-engineering).
TEST(FullMesh, HasTheLinksToItsMembers)
{
    Cluster cluster;
    cluster.gpus = 8;
    cluster.tiers = {{"node", 8, 448_GB_per_s, 0.7, Seconds{0.0}, 1.0}};
    Cluster switched = cluster;
    cluster.tiers[0].topology = Topology::full_mesh;
    for (const Collective kind : {Collective::all_gather, Collective::all_reduce, Collective::all_to_all}) {
        for (const int members : {2, 4, 8}) {
            EXPECT_NEAR(collective_time(kind, Bytes{large}, {members, 1}, cluster).time.si /
                            collective_time(kind, Bytes{large}, {members, 1}, switched).time.si,
                        7.0 / (members - 1.0), 1e-9)
                << members;
        }
    }
    EXPECT_NEAR(point_to_point_time(Bytes{large}, 0, 1, 1, cluster).si, large / (448e9 * 0.7 / 7.0), 1e-12);
    // Bus bandwidth of an all-reduce, as printed.
    const auto bus = [&cluster](int members) {
        return 2.0 * others(members) * large /
               collective_time(Collective::all_reduce, Bytes{large}, {members, 1}, cluster).time.si;
    };
    EXPECT_NEAR(bus(8) / 312.9e9, 1.0, 0.01);
    EXPECT_NEAR(bus(2) / 47.7e9, 1.0, 0.07);
}

}  // namespace
}  // namespace prismopt
