#include "model/hardware/collective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace prismopt {
namespace {

using namespace literals;

constexpr std::array kinds{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter};

/// 8 GPUs a node at 300 GB/s, 64 a pod and 1,024 in all at 25 GB/s; efficiencies of
/// one keep the arithmetic plain.
Cluster cluster()
{
    Cluster c;
    c.gpus = 1024;
    c.tiers = {{"node", 8, 300_GB_per_s, 1.0, 3_us, 1.0},
               {"pod", 64, 25_GB_per_s, 1.0, 6_us, 1.0},
               {"cluster", 1024, 25_GB_per_s, 1.0, 10_us, 1.0}};
    return c;
}

double seconds(Collective kind, Bytes message, const Spacing& group, const Cluster& c)
{
    return collective_time(kind, message, group, c).time.si;
}

double passes(Collective kind) { return kind == Collective::all_reduce ? 2.0 : 1.0; }

std::vector<Spacing> groups()
{
    std::vector<Spacing> list;
    for (const int size : {2, 3, 4, 6, 8, 16, 24, 64, 128}) {
        for (const int stride : {1, 2, 8, 64}) {
            if (size * stride <= 1024) {
                list.push_back({size, stride});
            }
        }
    }
    return list;
}

TEST(Collective, CostsNothingAloneOrWithoutBytes)
{
    for (const Collective kind : kinds) {
        EXPECT_EQ(seconds(kind, 1_GB, {1, 8}, cluster()), 0.0);
        EXPECT_EQ(seconds(kind, Bytes{0.0}, {8, 1}, cluster()), 0.0);
    }
}

/// 1 GB over 8 GPUs of a node: (7/8) / 300 GB/s + 7 x 3 us one way, twice that for the all-reduce.
TEST(Collective, RingHasItsClosedForm)
{
    const double one_way = 7.0 / 8.0 * 1e9 / 300e9 + 7 * 3e-6;
    for (const Collective kind : kinds) {
        const CollectiveTime t = collective_time(kind, 1_GB, {8, 1}, cluster());
        EXPECT_EQ(t.algorithm, Algorithm::ring);
        EXPECT_NEAR(t.time.si, passes(kind) * one_way, 1e-12);
    }
}

/// One member a node, 16 nodes in 2 pods: the slower links set the pace; of the ring's 16 hops 2 leave a pod.
TEST(Collective, RingKeepsThePaceOfItsSlowestEdge)
{
    const double mean_hop = (14.0 * 6e-6 + 2.0 * 10e-6) / 16.0;
    EXPECT_NEAR(seconds(Collective::all_gather, 1_GB, {8, 8}, cluster()), 7.0 / 8.0 * 1e9 / 25e9 + 7 * 6e-6,
                1e-12);
    EXPECT_NEAR(seconds(Collective::all_gather, 1_GB, {16, 8}, cluster()),
                15.0 / 16.0 * 1e9 / 25e9 + 15 * mean_hop, 1e-12);
    Cluster thin = cluster();
    thin.tiers[2].oversubscription = 8.0;  // 8 nodes of a pod share an eighth of their links
    EXPECT_NEAR(seconds(Collective::all_gather, 1_GB, {8, 8}, thin), 7.0 / 8.0 * 1e9 / 25e9 + 7 * 6e-6,
                1e-12);
    // All 8 nodes' groups of one member: the ring crosses once a pod with all 8
    // members' links, an eighth each.
    EXPECT_NEAR(seconds(Collective::all_gather, 1_GB, {16, 8}, thin),
                15.0 / 16.0 * 1e9 / 25e9 + 15 * mean_hop, 1e-12);
    // One member a pod: nothing to spread over.
    EXPECT_NEAR(seconds(Collective::all_gather, 1_GB, {16, 64}, thin),
                15.0 / 16.0 * 1e9 * 8.0 / 25e9 + 15 * 10e-6, 1e-12);
}

/// 1 KB over 128 nodes: 3 levels of a pod and 4 of the cluster up and down
/// instead of 127 steps around, twice.
TEST(Collective, SmallAllReduceTakesTheTree)
{
    const CollectiveTime t = collective_time(Collective::all_reduce, Bytes{1000.0}, {128, 8}, cluster());
    EXPECT_EQ(t.algorithm, Algorithm::tree);
    EXPECT_NEAR(t.time.si, 2.0 * 127.0 / 128.0 * 1000.0 / 25e9 + 2.0 * (3.0 * 6e-6 + 4.0 * 10e-6), 1e-12);
}

TEST(Collective, GathersRunInRings)
{
    for (const Collective kind : {Collective::all_gather, Collective::reduce_scatter}) {
        const double hops = 63 * (56.0 * 3e-6 + 8.0 * 6e-6) / 64.0;
        const CollectiveTime t = collective_time(kind, 1_GB, {64, 1}, cluster());
        EXPECT_EQ(t.algorithm, Algorithm::ring);
        EXPECT_NEAR(t.time.si, 63.0 / 64.0 * 1e9 / 200e9 + hops, 1e-12);  // 8 links of 25 GB/s out of a node
    }
}

/// While nodes sum a chunk inside, they pass others on: 2 nodes exchange S over 8 links, and
/// chains pass 2 (15/16) S inside.
TEST(Collective, TreesWorkOnTheirLevelsAtOnce)
{
    const double hops = 2.0 * (7.0 * 3e-6 + 6e-6);
    for (const double inside : {300e9, 100e9}) {
        Cluster c = cluster();
        c.tiers[0].bandwidth = BytesPerSecond{inside};
        const double within = 2.0 * 15.0 / 16.0 * 1e9 / inside;
        const double between = 1e9 / 200e9;
        EXPECT_NEAR(seconds(Collective::all_reduce, 1_GB, {16, 1}, c), std::max(within, between) + hops,
                    1e-12)
            << inside;
        c.library.overlaps_levels = false;
        const double ring =
            30.0 / 16.0 * 1e9 / std::min(inside, 200e9) + 30.0 * (14.0 * 3e-6 + 2.0 * 6e-6) / 16.0;
        EXPECT_NEAR(seconds(Collective::all_reduce, 1_GB, {16, 1}, c),
                    std::min(within + between + hops, ring), 1e-12)
            << inside;
    }
}

/// Trees between nodes may be faster than rings there, up to what the datasheet says.
TEST(Collective, TreesReachMoreThanRingsBetweenNodes)
{
    Cluster c = cluster();
    c.tiers[1].efficiency = 0.5;
    const double hops = 2.0 * 6e-6;
    EXPECT_NEAR(seconds(Collective::all_reduce, 1_GB, {2, 8}, c), 1e9 / 12.5e9 + hops, 1e-12);
    c.library.trees_between_nodes = 1.5;
    EXPECT_NEAR(seconds(Collective::all_reduce, 1_GB, {2, 8}, c), 1e9 / 18.75e9 + hops, 1e-12);
    c.library.trees_between_nodes = 3.0;
    EXPECT_NEAR(seconds(Collective::all_reduce, 1_GB, {2, 8}, c), 1e9 / 25e9 + hops, 1e-12);
}

/// Pairs below the nodes, of the same links, are not nodes.
TEST(Collective, ATierInsideNodesChangesNothing)
{
    Cluster c = cluster();
    c.library = {
        .name = "", .start = 10_us, .in_network_from = 5, .fill = 1.0, .all_to_all_between_nodes = 0.6};
    c.tiers[0].in_network = 0.6;
    Cluster pairs = c;
    pairs.tiers.insert(pairs.tiers.begin(), c.tiers.front());
    pairs.tiers[0].group_gpus = 2;
    pairs.tiers[1].kind = TierKind::node;
    EXPECT_EQ(pairs.gpus_per_node(), 8);
    for (const Collective kind : {Collective::all_reduce, Collective::all_gather, Collective::all_to_all}) {
        for (const Spacing& group : groups()) {
            for (const Bytes message : {Bytes{64e3}, 8_GB}) {
                EXPECT_NEAR(seconds(kind, message, group, pairs) / seconds(kind, message, group, c), 1.0,
                            1e-12)
                    << name(kind) << " " << group.count << " by " << group.stride;
            }
        }
    }
}

/// Nor does a network tier split in two.
TEST(Collective, LeavesAndSpineOfEqualLinksAreOneNetwork)
{
    Cluster c = cluster();
    c.library.all_to_all_between_nodes = 0.6;
    c.tiers[1].latency = c.tiers[2].latency;
    Cluster flat = c;
    flat.tiers.erase(flat.tiers.begin() + 1);
    for (const Collective kind : {Collective::all_reduce, Collective::all_gather, Collective::all_to_all}) {
        for (const Spacing& group : groups()) {
            // floor(log2 u) of two tiers
            const double levels = kind == Collective::all_reduce ? 1e-2 : 1e-12;
            EXPECT_NEAR(seconds(kind, 8_GB, group, c) / seconds(kind, 8_GB, group, flat), 1.0, levels)
                << name(kind) << " " << group.count << " by " << group.stride;
        }
    }
}

/// Nodes of one GPU: adapters of the first tier cost what they cost behind a leaf.
TEST(Collective, AdaptersOfTheFirstTierJoinNodes)
{
    Cluster leaves = cluster();
    leaves.library.all_to_all_between_nodes = 0.6;
    leaves.library.all_to_all_start = 25_us;
    leaves.tiers.erase(leaves.tiers.begin());
    leaves.tiers[0].kind = TierKind::network;
    leaves.tiers[0].latency = leaves.tiers[1].latency;
    leaves.tiers[1].kind = TierKind::network;
    Cluster flat = leaves;
    flat.tiers.erase(flat.tiers.begin());
    EXPECT_TRUE(flat.joins_nodes(0));
    EXPECT_TRUE(leave_nodes({group_of({2, 1}, flat)}, flat));
    for (const Collective kind : {Collective::all_gather, Collective::all_to_all}) {
        for (const Spacing& group : groups()) {
            EXPECT_NEAR(seconds(kind, 8_GB, group, leaves) / seconds(kind, 8_GB, group, flat), 1.0, 1e-12)
                << name(kind) << " " << group.count << " by " << group.stride;
        }
    }
}

TEST(Collective, GrowsWithItsMessage)
{
    for (const Collective kind : kinds) {
        for (const Spacing& group : groups()) {
            double last = 0.0;
            for (int octave = 0; octave < 40; ++octave) {
                const double t = seconds(kind, Bytes{std::ldexp(1.0, octave)}, group, cluster());
                EXPECT_GT(t, last) << group.count << " by " << group.stride;
                last = t;
            }
        }
    }
}

/// Each member must receive (k-1)/k of the message through its own fastest link, and each node
/// what it lacks through its links.
TEST(Collective, NeverBeatsTheBandwidthBound)
{
    for (const Collective kind : kinds) {
        for (const Spacing& group : groups()) {
            for (const double bytes : {1e3, 1e6, 1e9, 1e11}) {
                const double k = group.count;
                const double inside = std::clamp(8.0 / group.stride, 1.0, k);
                const double member = (k - 1.0) / k * bytes / 300e9;
                const double node = (1.0 - inside / k) * bytes / (inside * 25e9);
                EXPECT_GE(seconds(kind, Bytes{bytes}, group, cluster()),
                          passes(kind) * std::max(member, node))
                    << group.count << " by " << group.stride;
            }
        }
    }
}

TEST(Collective, InsideANodeDoesNotSeeTheNetwork)
{
    Cluster slow = cluster();
    slow.tiers[1].bandwidth = 1_GB_per_s;
    slow.tiers[1].latency = 1_s;
    slow.tiers[2].oversubscription = 100.0;
    for (const Collective kind : kinds) {
        for (const Spacing& group : {Spacing{8, 1}, Spacing{4, 2}, Spacing{2, 1}}) {
            EXPECT_EQ(seconds(kind, 1_GB, group, slow), seconds(kind, 1_GB, group, cluster()));
        }
        EXPECT_GT(seconds(kind, 1_GB, {16, 1}, slow), seconds(kind, 1_GB, {16, 1}, cluster()));
    }
}

TEST(Collective, SlowsWithOversubscription)
{
    Cluster thin = cluster();
    thin.tiers[1].oversubscription = 7.0;
    const double bytes = 1e11;  // latency is nothing beside it
    const double full = seconds(Collective::all_gather, Bytes{bytes}, {8, 8}, cluster());
    EXPECT_NEAR(seconds(Collective::all_gather, Bytes{bytes}, {8, 8}, thin), 7.0 * full, 1e-3 * full);
}

TEST(Collective, AllReduceByRingIsReduceScatterThenAllGather)
{
    for (const Spacing& group : groups()) {
        const CollectiveTime both = collective_time(Collective::all_reduce, 1_GB, group, cluster());
        if (both.algorithm == Algorithm::ring) {
            const double in_sequence = seconds(Collective::reduce_scatter, 1_GB, group, cluster()) +
                                       seconds(Collective::all_gather, 1_GB, group, cluster());
            EXPECT_NEAR(both.time.si, in_sequence, 1e-12 * in_sequence)
                << group.count << " by " << group.stride;
        }
    }
}

TEST(Collective, SwitchesAddWhatCrossesTheirLinksOnce)
{
    Cluster c = cluster();
    c.library.in_network_start = 30_us;
    const Seconds ring = collective_time(Collective::all_reduce, 1_GB, {8, 1}, c).time;
    c.tiers.front().in_network = 0.8;  // the ring sends 2 * 7 / 8 messages at the full rate
    const CollectiveTime sum = collective_time(Collective::all_reduce, 1_GB, {8, 1}, c);
    EXPECT_EQ(sum.algorithm, Algorithm::in_network);
    EXPECT_NEAR(sum.time.si, 7.0 / 8.0 * 1e9 / (0.8 * 300e9) + 30e-6, 1e-12);
    EXPECT_LT(sum.time, ring);
    c.tiers.front().in_network = 0.45;  // slower than the ring
    EXPECT_EQ(collective_time(Collective::all_reduce, 1_GB, {8, 1}, c).time, ring);
    EXPECT_NE(collective_time(Collective::all_gather, 1_GB, {8, 1}, c).algorithm, Algorithm::in_network);
    c.tiers.front().in_network = 0.8;
    c.library.in_network_from = 9;
    EXPECT_EQ(collective_time(Collective::all_reduce, 1_GB, {8, 1}, c).time, ring);
}

TEST(Collective, OverNodesTheSwitchesDoThePhaseInside)
{
    Cluster c = cluster();
    c.tiers.front().in_network = 0.8;
    const CollectiveTime sum = collective_time(Collective::all_reduce, 1_GB, {16, 1}, c);
    EXPECT_EQ(sum.algorithm, Algorithm::in_network);
    EXPECT_NEAR(sum.time.si, std::max(7.0 / 8.0 * 1e9 / (0.8 * 300e9), 1e9 / 200e9) + 2.0 * 6e-6, 1e-12);
}

TEST(PointToPoint, TakesTheInnermostTierThatHoldsBoth)
{
    const Cluster c = cluster();
    EXPECT_NEAR(point_to_point_time(3_GB, 0, 7, 1, c).si, 3e9 / 300e9 + 3e-6, 1e-12);
    EXPECT_NEAR(point_to_point_time(3_GB, 7, 8, 1, c).si, 3e9 / 25e9 + 6e-6, 1e-12);
    EXPECT_NEAR(point_to_point_time(3_GB, 63, 64, 1, c).si, 3e9 / 25e9 + 10e-6, 1e-12);
    EXPECT_EQ(point_to_point_time(3_GB, 63, 64, 1, c), point_to_point_time(3_GB, 64, 63, 1, c));
    // A whole pod sends at once over links that carry a quarter of it; a few GPUs have them for themselves.
    const double links = c.tiers.back().oversubscription;
    EXPECT_NEAR(point_to_point_time(3_GB, 0, 64, 64, c).si, links * 3e9 / 25e9 + 10e-6, 1e-9);
    EXPECT_EQ(point_to_point_time(3_GB, 0, 64, 8, c), point_to_point_time(3_GB, 0, 64, 1, c));
}

TEST(PointToPoint, OneMessageMayReachLessThanCollectives)
{
    Cluster c = cluster();
    const Seconds gathered = collective_time(Collective::all_gather, 3_GB, {8, 1}, c).time;
    c.tiers.front().point_to_point = 0.125;
    EXPECT_NEAR(point_to_point_time(3_GB, 0, 7, 1, c).si, 3e9 / (0.125 * 300e9) + 3e-6, 1e-12);
    EXPECT_EQ(point_to_point_time(3_GB, 7, 8, 1, c), point_to_point_time(3_GB, 7, 8, 1, cluster()));
    EXPECT_EQ(collective_time(Collective::all_gather, 3_GB, {8, 1}, c).time, gathered);
}

/// Brute force over the messages.
TEST(PointToPoint, TheWidestMessageCrossesTheOutermostTier)
{
    const Cluster c = cluster();
    for (const int from : {0, 3, 8, 24, 60}) {
        for (const int to : {1, 8, 12, 32, 63, 64, 130}) {
            for (const int count : {1, 2, 8, 32, 64}) {
                std::size_t outermost = 0;
                for (int i = 0; i < count; ++i) {
                    outermost = std::max(outermost, tier_between(from + i, to + i, c));
                }
                const int widest = widest_message(from, to, count, c);
                EXPECT_EQ(tier_between(from + widest, to + widest, c), outermost)
                    << from << " " << to << " " << count;
                EXPECT_LT(widest, count);
            }
        }
    }
}

TEST(MembersInside, CountsWhoSharesAUnit)
{
    const Cluster c = cluster();
    EXPECT_EQ(group_of({8, 1}, c).tiers[0].fewest, 8);
    EXPECT_EQ(group_of({16, 2}, c).tiers[0].fewest, 4);
    EXPECT_EQ(group_of({16, 8}, c).tiers[0].fewest, 1);
    EXPECT_EQ(group_of({16, 8}, c).tiers[1].fewest, 8);
    EXPECT_EQ(group_of({16, 8}, c).tiers[2].fewest, 16);
}

/// What a member sends out of its node goes over its own link: 15/16 to others, 8/16 of it beyond the node.
TEST(AllToAll, IsSetByTheTierWithTheLeastBandwidthForItsShare)
{
    Cluster c = cluster();
    c.library.all_to_all_between_nodes = 0.6;
    c.library.all_to_all_start = 25_us;
    EXPECT_NEAR(seconds(Collective::all_to_all, 1_GB, {8, 1}, c), 7.0 / 8.0 * 1e9 / 300e9 + 3e-6, 1e-12);
    EXPECT_NEAR(seconds(Collective::all_to_all, 1_GB, {16, 1}, c), 0.5 * 1e9 / (0.6 * 25e9) + 6e-6 + 25e-6,
                1e-12);
    EXPECT_EQ(collective_time(Collective::all_to_all, 1_GB, {16, 1}, c).algorithm, Algorithm::direct);
}

/// Of 2 nodes the other one is needed with probability 1 - (1/2)^8 and then once,
/// where plain copies send half of 8.
TEST(AllToAll, TokensGoOnceToANode)
{
    const Cluster c = cluster();
    const double crossing = (1.0 - std::pow(0.5, 8.0)) / 8.0;
    EXPECT_NEAR(token_exchange_time(8_GB, {8.0}, group_of({16, 1}, c), c).si, crossing * 8e9 / 25e9 + 6e-6,
                1e-12);
    EXPECT_EQ(token_exchange_time(8_GB, {}, group_of({16, 1}, c), c).si,
              seconds(Collective::all_to_all, 8_GB, {16, 1}, c));
    EXPECT_EQ(token_exchange_time(8_GB, {8.0}, group_of({1, 1}, c), c).si, 0.0);
    EXPECT_LE(token_exchange_time(8_GB, {1.0}, group_of({16, 1}, c), c).si,
              seconds(Collective::all_to_all, 8_GB, {16, 1}, c) + 1e-12);
}

/// Inside a node each of 8 GPUs is needed with probability 1 - (7/8)^8, seven of them over links,
/// where plain copies send 7/8 of
/// 8.
TEST(AllToAll, TokensGoOnceToAGpu)
{
    const Cluster c = cluster();
    const double needed = 7.0 * (1.0 - std::pow(7.0 / 8.0, 8.0)) / 8.0;
    EXPECT_NEAR(token_exchange_time(8_GB, {8.0}, group_of({8, 1}, c), c).si, needed * 8e9 / 300e9 + 3e-6,
                1e-12);
    Cluster capped = c;
    capped.library.token_kernels = 100_GB_per_s;
    EXPECT_NEAR(token_exchange_time(8_GB, {8.0}, group_of({8, 1}, c), capped).si, needed * 8e9 / 100e9 + 3e-6,
                1e-12);
}

/// Of 8 nodes 4 have experts for a token at most: one of them is its own with probability 1/2.
TEST(AllToAll, TokensGoToALimitedNumberOfNodes)
{
    const Cluster c = cluster();
    const double reached = 4.0 * (1.0 - std::pow(3.0 / 4.0, 8.0));
    const double crossing = 7.0 / 8.0 * reached / 8.0;
    EXPECT_NEAR(token_exchange_time(8_GB, {8.0, 4.0}, group_of({64, 1}, c), c).si,
                crossing * 8e9 / 25e9 + 6e-6, 1e-12);
    EXPECT_EQ(token_exchange_time(8_GB, {8.0, 8.0}, group_of({64, 1}, c), c).si,
              token_exchange_time(8_GB, {8.0}, group_of({64, 1}, c), c).si);
}

/// A short message takes a sixth of a hop's latency at half of the bandwidth, as long as that is faster.
TEST(Collective, ShortMessagesUseTheLowLatencyProtocol)
{
    Cluster c = cluster();
    c.library.start = 9_us;
    c.library.low_latency_start = 5_us;
    c.library.low_latency_in_nodes = 1.0 / 6.0;
    c.library.low_latency_bandwidth = 0.5;
    const Bytes small{80e3};
    EXPECT_NEAR(seconds(Collective::all_gather, small, {8, 1}, c),
                5e-6 + 7.0 / 8.0 * 80e3 / 150e9 + 7 * 0.5e-6, 1e-15);
    // where both protocols take as long
    const double middle = (4e-6 + 7 * 3e-6 * 5.0 / 6.0) * 300e9 / (7.0 / 8.0);
    for (const double factor : {0.99, 1.01}) {
        const double message = factor * middle;
        const double simple = 9e-6 + 7.0 / 8.0 * message / 300e9 + 7 * 3e-6;
        EXPECT_EQ(seconds(Collective::all_gather, Bytes{message}, {8, 1}, c) < simple * (1.0 - 1e-9),
                  factor < 1.0);
    }
}

/// Brute force over the number of chunks, each of which waits for a hop each way.
TEST(Collective, ChunksOfAPipelineWait)
{
    Cluster c = cluster();
    c.library.fill = 1.0;
    const double x = 7.0 / 8.0 * 1e9 / 300e9;
    const double wait = 2.0 * 3e-6;
    double best = 1.0;
    for (int chunks = 1; chunks < 1000; ++chunks) {
        best = std::min(best, x + chunks * wait + x / chunks);
    }
    EXPECT_NEAR(seconds(Collective::all_gather, 1_GB, {8, 1}, c), best + 7 * 3e-6, 1e-4 * best);
}

}  // namespace
}  // namespace prismopt
