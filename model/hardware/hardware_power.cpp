#include "model/hardware/hardware_power.hpp"

#include "model/hardware/torus.hpp"

#include <algorithm>
#include <array>

namespace prismopt {

using namespace literals;

namespace {

/// Shares of the peaks at which a board draws its usual power in training. Assumptions: large trainings reach
/// 38 to 43 % of the 16-bit peak (Llama 3, arXiv 2407.21783, table 4), good ones half of it, and move a fifth
/// of what the memory could. That power follows operations more than time was measured on nodes of H100: 11 %
/// error of a model by operations, 27 to 37 % of one by rated power (arXiv 2506.14551).
constexpr double usual_share_of_peak = 0.5;
constexpr double usual_share_of_bandwidth = 0.2;

/// About 4 pJ per bit in a stack of HBM2 (O'Connor et al., Fine-Grained DRAM, MICRO 2017), and as an
/// assumption 1 on the way through the accelerator. An H200 that decodes at the limit of its memory, 4.8
/// TB/s, draws at most 300 of its 700 W (arXiv 2605.11999).
constexpr JoulesPerByte usual_memory_energy = 5_pJ_per_bit;

/// A transmitter and a receiver at 112 Gbit/s take 5.5 pJ per bit (Wei et al., NVLink-C2C, ISSCC 2023,
/// comparison).
constexpr JoulesPerByte lane_energy = 5.5_pJ_per_bit;

/// Pluggable transceivers take 30 W at 1.6 Tbit/s (NVIDIA, Hot Chips 2025, co-packaged optics). Excludes
/// switches and adapters, which the host's power includes.
constexpr JoulesPerByte transceiver_energy = 18.75_pJ_per_bit;

/// How many of them a GPU has for its bandwidth.
struct LinkEnds {
    double lanes = 0.0;         // of a tier of nodes
    double transceivers = 0.0;  // of a tier of a network
};
/// A lane to its switch and one from it; six transceivers on the way through a large network (NVIDIA, Hot
/// Chips 2025).
constexpr LinkEnds through_switches{.lanes = 2.0, .transceivers = 6.0};
/// A link to a neighbour has both once in each direction, and each GPU pays for what it sends.
constexpr LinkEnds to_neighbours{.lanes = 1.0, .transceivers = 1.0};

/// The least share of the power of work that products have, where memory would take it all.
constexpr double least_share_of_products = 0.5;

/// Peaks and energies of other precisions than 16 bits.
struct OtherPrecision {
    FlopsPerSecond Accelerator::*peak;
    JoulesPerFlop WorkEnergy::*energy;
};
constexpr std::array other_precisions{OtherPrecision{&Accelerator::peak_fp32, &WorkEnergy::fp32},
                                      OtherPrecision{&Accelerator::peak_tf32, &WorkEnergy::tf32},
                                      OtherPrecision{&Accelerator::peak_fp8, &WorkEnergy::fp8},
                                      OtherPrecision{&Accelerator::peak_fp4, &WorkEnergy::fp4}};

}  // namespace

Accelerator with_energy_of_work(Accelerator accelerator, const Power& power)
{
    WorkEnergy& energy = accelerator.energy;
    const double share = std::max(power.board_share - power.idle_share, 0.0);
    const Watts all = share * accelerator.power;
    if (energy.memory.si == 0.0) {
        energy.memory = usual_memory_energy;
    }
    if (energy.bf16.si == 0.0) {
        const Watts memory = usual_share_of_bandwidth * accelerator.memory_bandwidth * energy.memory;
        const Watts products = std::max(all - memory, least_share_of_products * all);
        energy.bf16 = products / (usual_share_of_peak * accelerator.peak_bf16);
    }
    for (const OtherPrecision& other : other_precisions) {
        const FlopsPerSecond peak = accelerator.*other.peak;
        if ((energy.*other.energy).si == 0.0 && peak.si > 0.0) {
            energy.*other.energy = energy.bf16 * (accelerator.peak_bf16 / peak);
        }
    }
    accelerator.energy_follows_work = true;
    return accelerator;
}

Watts power_of_work(const Accelerator& accelerator)
{
    const WorkEnergy& energy = accelerator.energy;
    Watts products = accelerator.peak_bf16 * energy.bf16;
    for (const OtherPrecision& other : other_precisions) {
        products = std::max(products, accelerator.*other.peak * energy.*other.energy);
    }
    return usual_share_of_peak * products +
           usual_share_of_bandwidth * accelerator.memory_bandwidth * energy.memory;
}

Accelerator with_board_for_rates(Accelerator accelerator, const Accelerator& before)
{
    accelerator.power = before.power * (power_of_work(accelerator) / power_of_work(before));
    return accelerator;
}

JoulesPerByte link_energy(const Cluster& cluster, std::size_t tier)
{
    const JoulesPerByte own = cluster.tiers[tier].energy;
    if (own.si > 0.0) {
        return own;
    }
    const bool switched = cluster.tiers[tier].topology == Topology::switched;
    const LinkEnds& ends = switched ? through_switches : to_neighbours;
    return cluster.joins_nodes(tier) ? ends.transceivers * transceiver_energy : ends.lanes * lane_energy;
}

BytesPerSecond bandwidth_of_gpu(const NetworkTier& tier)
{
    return tier.topology == Topology::torus ? links_of_gpu(tier) * tier.bandwidth : tier.bandwidth;
}

Watts power_of_links(const Cluster& cluster)
{
    Watts sum{};
    for (std::size_t tier = 0; tier < cluster.tiers.size(); ++tier) {
        sum += bandwidth_of_gpu(cluster.tiers[tier]) * link_energy(cluster, tier);
    }
    return sum;
}

}  // namespace prismopt
