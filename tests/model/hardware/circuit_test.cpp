/// Collectives and messages between buildings, campuses and regions.

#include "model/hardware/collective.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace prismopt {
namespace {

using namespace literals;

/// Nodes of 8 GPUs at 300 GB/s; buildings of 64 at 25 GB/s a GPU; two of them a campus, behind
/// circuits of 200 GB/s and 1 ms; two campuses a region, behind 100 GB/s and 10 ms. Efficiencies of
/// one keep the arithmetic plain.
Cluster region()
{
    Cluster c;
    c.gpus = 256;
    c.tiers = {{"node", 8, 300_GB_per_s, 1.0, 3_us, 1.0},
               {"building", 64, 25_GB_per_s, 1.0, 6_us, 1.0},
               {"campus", 128, 25_GB_per_s, 1.0, Seconds{1e-3}, 1.0},
               {"region", 256, 25_GB_per_s, 1.0, Seconds{1e-2}, 1.0}};
    c.tiers[2].aggregate = 200_GB_per_s;
    c.tiers[3].aggregate = 100_GB_per_s;
    return c;
}

double seconds_of_circuit(Collective kind, double bytes, const Spacing& group, const Cluster& c)
{
    return collective_time(kind, Bytes{bytes}, group, c).time.si;
}

TEST(Circuit, BuildingsLieBelowTheFirstOne)
{
    EXPECT_EQ(region().building_gpus(), 64);
    Cluster plain = region();
    plain.tiers[2].aggregate = plain.tiers[3].aggregate = BytesPerSecond{0.0};
    EXPECT_EQ(plain.building_gpus(), 0);
}

/// One member a node of a campus: 16 hops, of which 2 cross the circuit; the 8 groups of a
/// node share it, so one has 25 GB/s.
TEST(Circuit, RingOverTwoTiersHasItsClosedForm)
{
    Cluster c = region();
    c.flat_collectives = true;
    const double hops = (14.0 * 6e-6 + 2.0 * 1e-3) / 16.0;
    EXPECT_NEAR(seconds_of_circuit(Collective::all_gather, 1e9, {16, 8}, c),
                15.0 / 16.0 * 1e9 / 25e9 + 15.0 * hops, 1e-12);
    c.tiers[2].aggregate = 40_GB_per_s;  // 5 GB/s each
    EXPECT_NEAR(seconds_of_circuit(Collective::all_gather, 1e9, {16, 8}, c),
                15.0 / 16.0 * 1e9 / 5e9 + 15.0 * hops, 1e-12);
}

/// However short the message: what comes from the other side has travelled there, and a sum there and back.
TEST(Circuit, NothingOutrunsLight)
{
    for (const bool flat : {false, true}) {
        Cluster c = region();
        c.flat_collectives = flat;
        for (const int size : {2, 16, 64, 128}) {
            const Spacing group{size, 128 / size};
            for (const double bytes : {1.0, 1e4, 1e6, 1e9}) {
                EXPECT_GE(seconds_of_circuit(Collective::all_gather, bytes, group, c), 1e-3)
                    << size << " " << bytes;
                EXPECT_GE(seconds_of_circuit(Collective::reduce_scatter, bytes, group, c), 1e-3)
                    << size << " " << bytes;
                EXPECT_GE(seconds_of_circuit(Collective::all_to_all, bytes, group, c), 1e-3)
                    << size << " " << bytes;
                EXPECT_GE(seconds_of_circuit(Collective::all_reduce, bytes, group, c), 2e-3)
                    << size << " " << bytes;
            }
        }
        // Without a circuit too, where a network's latency can only be distance.
        c.tiers[2].aggregate = c.tiers[3].aggregate = BytesPerSecond{0.0};
        EXPECT_GE(seconds_of_circuit(Collective::all_reduce, 1e4, {16, 8}, c), 2.0 * (1e-3 - 1e-4));
    }
}

/// Inside each building, then the shards of 8 members each side of the circuit: 1/8 of the
/// message, a 64th of the circuit each.
TEST(Circuit, HierarchyHasItsClosedForm)
{
    Cluster c = region();
    c.tiers[2].aggregate = 40_GB_per_s;
    const double inside = 7.0 / 8.0 * 1e9 / 25e9 + 7.0 * 6e-6;
    const double across = 0.5 * 1e9 / 8.0 / (40e9 / 64.0) + 1e-3;
    const CollectiveTime gather = collective_time(Collective::all_gather, 1_GB, {16, 8}, c);
    EXPECT_EQ(gather.algorithm, Algorithm::hierarchical);
    EXPECT_NEAR(gather.time.si, inside + across, 1e-12);
    // Reduced and split inside, summed across (there and back), gathered inside.
    EXPECT_NEAR(seconds_of_circuit(Collective::all_reduce, 1e9, {16, 8}, c), 2.0 * inside + 2.0 * across,
                1e-12);
}

/// Groups in buildings that are partly used lie apart by whole buildings; the
/// same as a group that fills them.
TEST(Circuit, GroupsMaySpanPartlyUsedBuildings)
{
    const Cluster c = region();
    // `inside`: members of a building, which lie `stride` apart.
    const auto in_buildings = [&c](int inside, int stride, int buildings) {
        return group_of(std::array{Spacing{inside, stride}, Spacing{buildings, 64}}, 0, c);
    };
    for (const Collective kind :
         {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter}) {
        const auto seconds = [&](const Group& group) {
            return collective_time(kind, 1_GB, group, c).time.si;
        };
        EXPECT_DOUBLE_EQ(seconds(in_buildings(8, 8, 2)), seconds_of_circuit(kind, 1e9, {16, 8}, c));
        EXPECT_DOUBLE_EQ(seconds(in_buildings(8, 8, 4)), seconds_of_circuit(kind, 1e9, {32, 8}, c));
        // The second is in one building.
        EXPECT_GT(seconds(in_buildings(8, 1, 2)), seconds_of_circuit(kind, 1e9, {16, 1}, c));
    }
    EXPECT_EQ(in_buildings(8, 1, 2).tiers[1].fewest, 8);
    EXPECT_EQ(in_buildings(8, 1, 2).tiers[2].fewest, 16);
}

/// The share of a group falls as groups grow: all of a building's GPUs are behind one
/// circuit, in however many groups.
TEST(Circuit, SharesShrinkAsTheBuildingGrows)
{
    Cluster large = region();
    for (std::size_t t = 1; t < large.tiers.size(); ++t) {
        large.tiers[t].group_gpus *= 4;
    }
    large.gpus *= 4;
    const Spacing small_pair{2, 64};
    const Spacing large_pair{2, 256};
    const double latency = 1e-3;
    EXPECT_NEAR(seconds_of_circuit(Collective::all_gather, 1e9, large_pair, large) - latency,
                4.0 * (seconds_of_circuit(Collective::all_gather, 1e9, small_pair, region()) - latency),
                1e-12);
}

TEST(Circuit, MessagesOfAllSendersShareIt)
{
    const Cluster c = region();
    EXPECT_EQ(tier_between(0, 64, c), 2U);
    EXPECT_EQ(tier_between(0, 128, c), 3U);
    EXPECT_NEAR(point_to_point_time(1_GB, 0, 64, 1, c).si, 1e-3 + 1e9 / 25e9, 1e-12);  // its own link
    // A sixteenth of the circuit.
    EXPECT_NEAR(point_to_point_time(1_GB, 0, 64, 16, c).si, 1e-3 + 1e9 / (200e9 / 16), 1e-12);
    EXPECT_NEAR(point_to_point_time(1_GB, 0, 128, 16, c).si, 1e-2 + 1e9 / (100e9 / 16), 1e-12);
}

/// 1 in a million packets of 4 KiB lost, 2 x 1 ms and 25 GB/s: 12,208 packets are under
/// way, of which a loss repeats all.
TEST(Circuit, LossTakesItsShareOfTheBandwidth)
{
    NetworkTier tier = region().tiers[2];
    EXPECT_EQ(tier.goodput(25_GB_per_s), 25_GB_per_s);
    tier.loss = 1e-6;
    const double under_way = 1.0 + 2e-3 * 25e9 / 4096.0;
    EXPECT_NEAR(tier.goodput(25_GB_per_s).si / 25e9, (1.0 - 1e-6) / (1.0 - 1e-6 + 1e-6 * under_way), 1e-12);
    EXPECT_NEAR(tier.goodput(25_GB_per_s).si / 25e9, 0.988, 5e-4);
}

/// What is under way is what the circuit lets through, so that faster links behind it lose nothing.
TEST(Circuit, FasterLinksNeverLoseMore)
{
    for (const double loss : {1e-6, 1e-5, 1e-3}) {
        Cluster c = region();
        c.tiers[2].loss = loss;
        for (const Collective kind :
             {Collective::all_reduce, Collective::all_gather, Collective::all_to_all}) {
            double before = std::numeric_limits<double>::infinity();
            for (const double bandwidth : {12.5e9, 25e9, 100e9, 400e9}) {
                c.tiers[2].bandwidth = BytesPerSecond{bandwidth};
                const double time = seconds_of_circuit(kind, 1e9, {128, 1}, c);
                EXPECT_LE(time, before) << name(kind) << " " << loss << " " << bandwidth;
                before = time;
            }
        }
    }
}

}  // namespace
}  // namespace prismopt
