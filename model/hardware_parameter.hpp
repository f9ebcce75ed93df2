#pragma once

/// Hardware parameters that a co-design may vary, each with its price.

#include "model/base/names.hpp"
#include "model/hardware/hardware.hpp"
#include "model/hardware/power.hpp"
#include "model/plan/infeasible.hpp"
#include "model/run/reliability.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace prismopt {

/// What a hardware parameter sets. Of a tier: bandwidth, latency, oversubscription, aggregate (of a circuit),
/// group, link_energy. Of the accelerator: memory, memory_bandwidth, compute (the peaks of all precisions,
/// given by that of bf16, or one of them), power (the board limit; one below what the rates need lowers the
/// clock and with it the peaks), and energies. Of nodes: failure_rate.
enum class HardwareTarget {
    bandwidth,
    latency,
    oversubscription,
    aggregate,
    group,
    memory,
    memory_bandwidth,
    compute,
    power,
    link_energy,
    memory_energy,
    compute_energy,
    failure_rate
};
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
                                          {HardwareTarget::power, "power"},
                                          {HardwareTarget::link_energy, "link_energy"},
                                          {HardwareTarget::memory_energy, "memory_energy"},
                                          {HardwareTarget::compute_energy, "compute_energy"},
                                          {HardwareTarget::failure_rate, "failure_rate"}});

/// Facts about the targets, in the order of their names.
struct HardwareTargetRow {
    HardwareTarget target;
    std::string_view unit;      // in which values are written; empty: counts and factors
    double si = 1.0;            // of one
    std::string_view si_unit;   // "1" for counts and factors
    std::string_view example;   // a value in TOML syntax
    bool of_tier = false;       // needs the name of a tier
    bool of_precision = false;  // may be that of one precision
    bool less_costs = false;    // a price is paid for less of it
    // changes the rate or the energy of work, so that energy has to follow the work
    bool changes_work = false;
    std::string_view energy = {};  // unit of the energy that its values may bring along; empty: they cannot
};
inline constexpr auto hardware_target_rows = std::to_array<HardwareTargetRow>({
    {HardwareTarget::bandwidth, "GB/s", 1e9, "B/s", "900 GB/s", true, false, false, false, "pJ/bit"},
    {HardwareTarget::latency, "us", 1e-6, "s", "10 us", true, false, true},
    {HardwareTarget::oversubscription, "", 1.0, "1", "2", true, false, true},
    {HardwareTarget::aggregate, "GB/s", 1e9, "B/s", "25.6 Tb/s", true},
    {HardwareTarget::group, "", 1.0, "1", "72", true},
    {HardwareTarget::memory, "GB", 1e9, "B", "192 GB"},
    {HardwareTarget::memory_bandwidth, "GB/s", 1e9, "B/s", "8 TB/s", false, false, false, true, "pJ/bit"},
    {HardwareTarget::compute, "TFLOP/s", 1e12, "FLOP/s", "989 TFLOP/s", false, true, false, true, "pJ/FLOP"},
    {HardwareTarget::power, "W", 1.0, "W", "700 W"},
    {HardwareTarget::link_energy, "pJ/bit", 8e-12, "J/B", "5 pJ/bit", true, false, true},
    {HardwareTarget::memory_energy, "pJ/bit", 8e-12, "J/B", "4 pJ/bit", false, false, true, true},
    {HardwareTarget::compute_energy, "pJ/FLOP", 1e-12, "J/FLOP", "0.5 pJ/FLOP", false, true, true, true},
    {HardwareTarget::failure_rate, "/day", 1.0 / 86400.0, "1/s", "2e-3 /day", false, false, true},
});
constexpr const HardwareTargetRow& row_of(HardwareTarget target)
{
    return hardware_target_rows[static_cast<std::size_t>(target)];
}

/// One hardware parameter.
struct HardwareParameter {
    HardwareTarget target = HardwareTarget::bandwidth;
    std::size_t tier = 0;                  // for parameters of a tier
    std::string name{};                    // "node.bandwidth", "memory", "compute.fp8"
    DollarsPerSecond price_per_unit{};     // per GPU and SI unit above (or below) the cluster's value
    std::optional<Precision> precision{};  // whose peak or energy; nothing: of all
    // of its work or its links, at any of its values, in SI units; nothing: the cluster's
    std::optional<double> energy{};
    double power_per_unit = 0.0;  // watts per GPU and SI unit above the cluster's value, drawn at all times
};

/// Returns the value of the hardware parameter in this cluster, in SI units; zero for failure
/// rates, which are not the cluster's.
double value_of(const HardwareParameter& parameter, const Cluster& cluster);

/// Makes the failure rates those of nodes with so many times the GPUs: the rate per GPU stays.
void scale_node_failures(Reliability& reliability, double larger);

/// A cluster with its reliability.
struct Hardware {
    Cluster cluster;
    Reliability reliability;
};

/// Returns the value of any hardware parameter, in SI units.
double value_of(const HardwareParameter& parameter, const Hardware& hardware);

/// Two tiers, of which the outer one does not join whole units of the inner one, by their positions.
struct UnnestedTiers {
    std::size_t inner = 0;
    std::size_t outer = 0;
};
/// Returns the innermost pair of tiers that do not nest, or nothing. The last tier joins all, be it
/// one unit or the last one in part.
std::optional<UnnestedTiers> unnested_tiers(const Cluster& cluster);

/// What hardware costs and draws per GPU beside its parameters.
struct AddedPerGpu {
    DollarsPerSecond price{};
    Watts power{};  // at all times
};

/// Returns the hardware with its hardware parameters set to `values`, whether or not the groups of its tiers
/// nest; in any order of the parameters.
///
/// A larger first tier is a larger node: its failure rate grows with its GPUs, so that the rate per GPU is
/// unchanged. A board limit follows the rates and energies of its work, if these are known; links draw in
/// proportion to their bandwidth. A given limit below it lowers the clock: dynamic power is proportional to
/// its cube (frequency times the square of the voltage, which follows it) above an idle share, the peaks to
/// the clock, and the energy of an operation to its square; memory and network keep their speed. Source of
/// the cube: Kim, Gupta, Wei, Brooks, HPCA 2008, section 2.
Hardware with_values(const Hardware& hardware, std::span<const HardwareParameter> hardware_parameters,
                     std::span<const double> values, const AddedPerGpu& added = {});

/// The same, or why it cannot be built: groups do not nest, or nothing is left of the price, the clock, the
/// memory or the power. `power`: its host includes the links of the cluster as given, so that links that
/// draw less cannot save more than it.
std::variant<Hardware, Infeasible> turned(const Hardware& hardware, const Power& power,
                                          std::span<const HardwareParameter> hardware_parameters,
                                          std::span<const double> values, const AddedPerGpu& added = {});

}  // namespace prismopt
