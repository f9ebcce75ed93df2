#include "model/hardware_parameter.hpp"

#include "model/base/units.hpp"
#include "model/hardware/hardware_power.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace prismopt {

using namespace literals;

namespace {

/// Share of the board limit that no clock saves: leakage, memory, links
/// (assumption; boards idle at 10 to 20 %).
constexpr double idle_share = 0.2;

constexpr std::array peaks{&Accelerator::peak_bf16, &Accelerator::peak_fp32, &Accelerator::peak_tf32,
                           &Accelerator::peak_fp8, &Accelerator::peak_fp4};
constexpr std::array energies{&WorkEnergy::bf16, &WorkEnergy::fp32, &WorkEnergy::tf32, &WorkEnergy::fp8,
                              &WorkEnergy::fp4};

void scale_peaks(Accelerator& accelerator, double factor)
{
    for (FlopsPerSecond Accelerator::*peak : peaks) {
        (accelerator.*peak).si *= factor;
    }
}

void scale_energies(WorkEnergy& energy, double factor)
{
    for (JoulesPerFlop WorkEnergy::*of : energies) {
        (energy.*of).si *= factor;
    }
}

FlopsPerSecond& peak_in(Accelerator& accelerator, Precision precision)
{
    switch (precision) {
        case Precision::fp32: return accelerator.peak_fp32;
        case Precision::tf32: return accelerator.peak_tf32;
        case Precision::nvfp4: return accelerator.peak_fp4;
        case Precision::bf16: return accelerator.peak_bf16;
        default: return accelerator.peak_fp8;
    }
}

JoulesPerFlop& energy_in(WorkEnergy& energy, Precision precision)
{
    switch (precision) {
        case Precision::fp32: return energy.fp32;
        case Precision::tf32: return energy.tf32;
        case Precision::nvfp4: return energy.fp4;
        case Precision::bf16: return energy.bf16;
        default: return energy.fp8;
    }
}

double clock_at(double share_of_limit)
{
    return std::cbrt(std::max(share_of_limit - idle_share, 0.0) / (1.0 - idle_share));
}

/// The rates of node failures together, per node.
double node_failures(const Reliability& reliability)
{
    double sum = reliability.node_failure_rate.si;
    for (const Cause& cause : reliability.causes) {
        sum += cause.of == RateOf::node ? cause.rate.si : 0.0;
    }
    return sum;
}

void set_peaks(Accelerator& accelerator, const std::optional<Precision>& precision, double value)
{
    if (precision) {
        peak_in(accelerator, *precision).si = value;
    } else {
        scale_peaks(accelerator, value / accelerator.peak_bf16.si);
    }
}

void set_energies(Accelerator& accelerator, const std::optional<Precision>& precision, double value)
{
    if (precision) {
        energy_in(accelerator.energy, *precision).si = value;
    } else if (accelerator.energy.bf16.si > 0.0) {
        scale_energies(accelerator.energy, value / accelerator.energy.bf16.si);
    }
}

/// The energy that the values of a parameter bring along.
void set_energy_of_values(Cluster& cluster, const HardwareParameter& parameter)
{
    if (!parameter.energy) {
        return;
    }
    switch (parameter.target) {
        case HardwareTarget::bandwidth: cluster.tiers[parameter.tier].energy.si = *parameter.energy; break;
        case HardwareTarget::memory_bandwidth:
            cluster.accelerator.energy.memory.si = *parameter.energy;
            break;
        case HardwareTarget::compute:
            set_energies(cluster.accelerator, parameter.precision, *parameter.energy);
            break;
        default: break;
    }
}

/// Sets all but the board limit.
void set_value(Hardware& hardware, const Cluster& before, const HardwareParameter& parameter, double value)
{
    Cluster& cluster = hardware.cluster;
    Accelerator& accelerator = cluster.accelerator;
    switch (parameter.target) {
        case HardwareTarget::bandwidth: cluster.tiers[parameter.tier].bandwidth.si = value; break;
        case HardwareTarget::latency: cluster.tiers[parameter.tier].latency.si = value; break;
        case HardwareTarget::oversubscription: cluster.tiers[parameter.tier].oversubscription = value; break;
        case HardwareTarget::aggregate: cluster.tiers[parameter.tier].aggregate.si = value; break;
        case HardwareTarget::group: {
            const auto group = static_cast<int>(std::lround(value));
            if (parameter.tier == 0) {
                scale_node_failures(hardware.reliability,
                                    static_cast<double>(group) / before.gpus_per_node());
            }
            cluster.tiers[parameter.tier].group_gpus = group;
            break;
        }
        case HardwareTarget::memory: accelerator.memory.si = value; break;
        case HardwareTarget::memory_bandwidth: accelerator.memory_bandwidth.si = value; break;
        case HardwareTarget::compute: set_peaks(accelerator, parameter.precision, value); break;
        case HardwareTarget::link_energy: cluster.tiers[parameter.tier].energy.si = value; break;
        case HardwareTarget::memory_energy: accelerator.energy.memory.si = value; break;
        case HardwareTarget::compute_energy: set_energies(accelerator, parameter.precision, value); break;
        case HardwareTarget::power:
        case HardwareTarget::failure_rate: break;
    }
    set_energy_of_values(cluster, parameter);
}

/// A board with this limit runs at the clock that it allows. None is above that of the declared peaks: a
/// board draws no more than it needs for them.
void set_board_limit(Accelerator& accelerator, double watts)
{
    if (watts >= accelerator.power.si) {
        return;
    }
    const double clock = clock_at(watts / accelerator.power.si);
    scale_peaks(accelerator, clock);
    scale_energies(accelerator.energy, clock * clock);
    accelerator.power.si = watts;
}

}  // namespace

void scale_node_failures(Reliability& reliability, double larger)
{
    reliability.node_failure_rate.si *= larger;
    for (Cause& cause : reliability.causes) {
        cause.rate.si *= cause.of == RateOf::node ? larger : 1.0;
    }
}

double value_of(const HardwareParameter& parameter, const Cluster& cluster)
{
    const Precision precision = parameter.precision.value_or(Precision::bf16);
    switch (parameter.target) {
        case HardwareTarget::bandwidth: return cluster.tiers[parameter.tier].bandwidth.si;
        case HardwareTarget::latency: return cluster.tiers[parameter.tier].latency.si;
        case HardwareTarget::oversubscription: return cluster.tiers[parameter.tier].oversubscription;
        case HardwareTarget::aggregate: return cluster.tiers[parameter.tier].aggregate.si;
        case HardwareTarget::group: return cluster.tiers[parameter.tier].group_gpus;
        case HardwareTarget::memory: return cluster.accelerator.memory.si;
        case HardwareTarget::memory_bandwidth: return cluster.accelerator.memory_bandwidth.si;
        case HardwareTarget::compute: return cluster.accelerator.peak(precision).si;
        case HardwareTarget::power: return cluster.accelerator.power.si;
        case HardwareTarget::link_energy: return link_energy(cluster, parameter.tier).si;
        case HardwareTarget::memory_energy: return cluster.accelerator.energy.memory.si;
        case HardwareTarget::compute_energy: return cluster.accelerator.energy_of(precision).si;
        case HardwareTarget::failure_rate: break;
    }
    return 0.0;
}

double value_of(const HardwareParameter& parameter, const Hardware& hardware)
{
    return parameter.target == HardwareTarget::failure_rate ? node_failures(hardware.reliability)
                                                            : value_of(parameter, hardware.cluster);
}

std::optional<UnnestedTiers> unnested_tiers(const Cluster& cluster)
{
    for (std::size_t i = 1; i < cluster.tiers.size(); ++i) {
        const int inner = cluster.tiers[i - 1].group_gpus;
        const int outer = cluster.tiers[i].group_gpus;
        const bool last = i + 1 == cluster.tiers.size();
        if (last ? outer < inner : outer <= inner || outer % inner != 0) {
            return UnnestedTiers{i - 1, i};
        }
    }
    return std::nullopt;
}

Hardware with_values(const Hardware& hardware, std::span<const HardwareParameter> hardware_parameters,
                     std::span<const double> values, const AddedPerGpu& added)
{
    Hardware result = hardware;
    Cluster& cluster = result.cluster;
    cluster.gpu_price.si += added.price.si;
    cluster.added_power += added.power;
    std::vector<std::size_t> order;  // parameters of all precisions come before those of one
    for (std::size_t k = 0; k < hardware_parameters.size(); ++k) {
        const HardwareParameter& parameter = hardware_parameters[k];
        const double before = value_of(parameter, hardware);
        const double extra = values[k] - before;
        cluster.gpu_price.si += extra * parameter.price_per_unit.si;
        cluster.added_power.si += extra * parameter.power_per_unit;
        if (parameter.target == HardwareTarget::failure_rate && before > 0.0) {
            scale_node_failures(result.reliability, values[k] / before);
        }
        order.push_back(k);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return hardware_parameters[a].precision.has_value() < hardware_parameters[b].precision.has_value();
    });
    for (const std::size_t k : order) {
        set_value(result, hardware.cluster, hardware_parameters[k], values[k]);
    }
    if (cluster.accelerator.energy_follows_work) {
        cluster.accelerator =
            with_board_for_rates(std::move(cluster.accelerator), hardware.cluster.accelerator);
    }
    for (const std::size_t k : order) {
        if (hardware_parameters[k].target == HardwareTarget::power) {
            set_board_limit(cluster.accelerator, values[k]);
        }
    }
    const Watts links = power_of_links(cluster) - power_of_links(hardware.cluster);
    cluster.added_power += links;
    cluster.added_link_power += links;
    return result;
}

std::variant<Hardware, Infeasible> turned(const Hardware& hardware, const Power& power,
                                          std::span<const HardwareParameter> hardware_parameters,
                                          std::span<const double> values, const AddedPerGpu& added)
{
    Hardware result = with_values(hardware, hardware_parameters, values, added);
    const Cluster& cluster = result.cluster;
    const Accelerator& accelerator = cluster.accelerator;
    if (const auto unnested = unnested_tiers(cluster)) {
        const NetworkTier& inner = cluster.tiers[unnested->inner];
        const NetworkTier& outer = cluster.tiers[unnested->outer];
        return Infeasible{Conflict::tiers_do_not_nest,
                          {{FactKey::inner_tier, inner.name},
                           {FactKey::inner_gpus, inner.group_gpus},
                           {FactKey::outer_tier, outer.name},
                           {FactKey::outer_gpus, outer.group_gpus}}};
    }
    if (!(cluster.gpu_price.si > 0.0)) {
        return Infeasible{Conflict::no_price_left, {{FactKey::price_usd_h, cluster.gpu_price.si * (1_h).si}}};
    }
    if (!(accelerator.peak_bf16.si > 0.0)) {
        return Infeasible{Conflict::no_clock_left, {{FactKey::power_w, accelerator.power.si}}};
    }
    if (!(accelerator.memory > accelerator.memory_reserved)) {
        return Infeasible{Conflict::no_memory_left,
                          {{FactKey::memory_bytes, accelerator.memory.si},
                           {FactKey::reserved_bytes, accelerator.memory_reserved.si}}};
    }
    if (power.host + cluster.added_link_power < Watts{}) {
        return Infeasible{Conflict::links_over_host,
                          {{FactKey::saved_w, -cluster.added_link_power.si},
                           {FactKey::host_w, power.host.si}}};
    }
    // In training it draws as much or more.
    const Watts waiting = idle_power(power, accelerator.power, cluster.added_power);
    if (waiting < Watts{}) {
        return Infeasible{Conflict::no_power_left, {{FactKey::power_w, waiting.si}}};
    }
    return result;
}

}  // namespace prismopt
