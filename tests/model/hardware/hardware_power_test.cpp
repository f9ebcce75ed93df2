#include "model/hardware/hardware_power.hpp"

#include "tests/support/example_problem.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

using namespace literals;

Power usual() { return {"test", 0.9, 0.2, Watts{100.0}, 1.2, CarbonIntensity{0.0}}; }

Accelerator example()
{
    Accelerator accelerator = example_cluster(8).accelerator;
    accelerator.peak_fp8 = 2.0 * accelerator.peak_bf16;
    return accelerator;
}

/// The board of 400 W draws 280 W beyond waiting, 16 W of it for a fifth of 2 TB/s at 5 pJ/bit.
TEST(HardwarePower, DividesTheBoardsPowerAmongItsWork)
{
    const Accelerator by_work = with_energy_of_work(example(), usual());
    EXPECT_TRUE(by_work.energy_follows_work);
    EXPECT_DOUBLE_EQ(by_work.energy.memory.si, 40e-12);
    EXPECT_NEAR(by_work.energy.bf16.si, (280.0 - 16.0) / (0.5 * 312e12), 1e-18);
    EXPECT_DOUBLE_EQ(by_work.energy.fp8.si, 0.5 * by_work.energy.bf16.si);
    EXPECT_EQ(by_work.energy.fp4.si, 0.0);
    EXPECT_NEAR(power_of_work(by_work).si, 280.0, 1e-9);
    EXPECT_EQ(by_work.power.si, 400.0);
}

TEST(HardwarePower, KeepsGivenEnergies)
{
    Accelerator accelerator = example();
    accelerator.energy.bf16 = 1_pJ_per_FLOP;
    accelerator.energy.memory = 4_pJ_per_bit;
    const Accelerator by_work = with_energy_of_work(accelerator, usual());
    EXPECT_DOUBLE_EQ(by_work.energy.bf16.si, 1e-12);
    EXPECT_DOUBLE_EQ(by_work.energy.memory.si, 32e-12);
    EXPECT_DOUBLE_EQ(by_work.energy.fp8.si, 0.5e-12);
    EXPECT_DOUBLE_EQ(by_work.energy_of(Precision::mxfp8).si, 0.5e-12);
}

/// Memory so fast that nothing would be left for products.
TEST(HardwarePower, LeavesProductsHalfOfThePower)
{
    Accelerator accelerator = example();
    accelerator.memory_bandwidth = BytesPerSecond{1e15};
    EXPECT_NEAR(with_energy_of_work(accelerator, usual()).energy.bf16.si, 0.5 * 280.0 / (0.5 * 312e12),
                1e-18);
}

TEST(HardwarePower, OfABoardFollowsRatesAndEnergies)
{
    const Accelerator before = with_energy_of_work(example(), usual());
    Accelerator doubled = before;
    doubled.peak_bf16 = 2.0 * doubled.peak_bf16;
    doubled.peak_fp8 = 2.0 * doubled.peak_fp8;
    EXPECT_NEAR(with_board_for_rates(doubled, before).power.si, 400.0 * (280.0 + 264.0) / 280.0, 1e-9);
    doubled.energy.bf16 = 0.5 * doubled.energy.bf16;
    doubled.energy.fp8 = 0.5 * doubled.energy.fp8;
    EXPECT_NEAR(with_board_for_rates(doubled, before).power.si, 400.0, 1e-9);
    EXPECT_EQ(with_board_for_rates(before, before).power.si, 400.0);
}

/// 300 GB/s at 11 pJ/bit, and twice 25 GB/s at 112.5 pJ/bit.
TEST(HardwarePower, OfLinksFollowsTheirBandwidth)
{
    Cluster cluster = example_cluster(4096);
    EXPECT_NEAR(power_of_links(cluster).si, 300e9 * 88e-12 + 2.0 * 25e9 * 900e-12, 1e-9);
    cluster.tiers[1].energy = 5_pJ_per_bit;
    EXPECT_NEAR(power_of_links(cluster).si, 300e9 * 88e-12 + 25e9 * (40e-12 + 900e-12), 1e-9);
}

/// Nodes of 2 x 4 GPUs without switches: two links along the ring, and one along an axis of two positions.
TEST(HardwarePower, OfATorusIsThatOfAllLinksOfAGpu)
{
    Cluster cluster = example_cluster(64);
    cluster.tiers.erase(cluster.tiers.begin() + 1);
    NetworkTier& pod = cluster.tiers.front();
    const double network_w = 25e9 * 900e-12;
    pod.topology = Topology::full_mesh;
    EXPECT_NEAR(power_of_links(cluster).si - network_w, 300e9 * 44e-12, 1e-9);
    pod.topology = Topology::torus;
    pod.bandwidth = BytesPerSecond{90e9};
    pod.shape = {4, 2};
    pod.wrap = {true, false};
    EXPECT_NEAR(power_of_links(cluster).si - network_w, 3.0 * 90e9 * 44e-12, 1e-9);
    pod.energy = 10_pJ_per_bit;
    EXPECT_NEAR(power_of_links(cluster).si - network_w, 3.0 * 90e9 * 80e-12, 1e-9);
    pod.kind = TierKind::network;
    pod.energy = {};
    EXPECT_NEAR(power_of_links(cluster).si - network_w, 3.0 * 90e9 * 150e-12, 1e-9);
}

}  // namespace
}  // namespace prismopt
