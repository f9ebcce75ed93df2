#pragma once

/// Hardware parameters that a co-design may vary, each with its price.

#include "model/base/names.hpp"
#include "model/hardware/hardware.hpp"
#include "model/run/reliability.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// What a hardware parameter sets. Of a tier: bandwidth, latency, oversubscription, aggregate (of a circuit), group. Of the
/// accelerator: memory, memory_bandwidth, compute (the peaks of all precisions, given by that of bf16), power (the board limit,
/// which the clock and with it the peaks follow).
enum class HardwareTarget { bandwidth, latency, oversubscription, aggregate, group, memory, memory_bandwidth, compute, power };
template <>
inline constexpr auto names_of<HardwareTarget> =
    std::to_array<Named<HardwareTarget>>({{HardwareTarget::bandwidth, "bandwidth"},
                                          {HardwareTarget::latency, "latency"},
                                          {HardwareTarget::oversubscription, "oversubscription"},
                                          {HardwareTarget::aggregate, "aggregate"},
                                          {HardwareTarget::group, "group"},
                                          {HardwareTarget::memory, "memory"},
                                          {HardwareTarget::memory_bandwidth, "memory_bandwidth"},
                                          {HardwareTarget::compute, "compute"},
                                          {HardwareTarget::power, "power"}});

/// One hardware parameter.
struct HardwareParameter {
    HardwareTarget target = HardwareTarget::bandwidth;
    std::size_t tier = 0;               // for parameters of a tier
    std::string name{};                 // "node.bandwidth", "memory"
    DollarsPerSecond price_per_unit{};  // per GPU and SI unit above (or below) the cluster's value
};

/// Returns whether hardware with another value draws another power, which nothing states. The power of an accelerator is that of
/// its board, of which no published model gives the share of its products or of its memory.
constexpr bool changes_unknown_power(HardwareTarget target)
{
    return target == HardwareTarget::compute || target == HardwareTarget::memory_bandwidth;
}

/// Returns the value of the hardware parameter in this cluster, in SI units.
double value_of(const HardwareParameter& parameter, const Cluster& cluster);

/// Makes the failure rates those of nodes with so many times the GPUs: the rate per GPU stays.
void scale_node_failures(Reliability& reliability, double larger);

/// A cluster with its reliability.
struct Hardware {
    Cluster cluster;
    Reliability reliability;
};

/// Returns the hardware with its hardware parameters set to `values`, or nothing if the groups of its tiers would not nest.
///
/// A larger first tier is a larger node: its failure rate grows with its GPUs, so that the rate per GPU is unchanged. Power:
/// dynamic power is proportional to the cube of the clock (frequency times the square of the voltage, which follows it) above an
/// idle share, and the peaks to the clock; memory and network keep their speed. Source of the cube: Kim, Gupta, Wei, Brooks, HPCA
/// 2008, section 2.
std::optional<Hardware> turned(const Hardware& hardware, std::span<const HardwareParameter> hardware_parameters,
                               std::span<const double> values);

}  // namespace prismopt
