#include "model/hardware_parameter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace prismopt {

namespace {

/// Share of the board limit that no clock saves: leakage, memory, links (assumption; boards idle at 10 to 20 %).
constexpr double idle_share = 0.2;

void scale_peaks(Accelerator& accelerator, double factor)
{
    for (FlopsPerSecond* peak :
         {&accelerator.peak_bf16, &accelerator.peak_fp32, &accelerator.peak_tf32, &accelerator.peak_fp8, &accelerator.peak_fp4}) {
        peak->si *= factor;
    }
}

double clock_at(double share_of_limit) { return std::cbrt(std::max(share_of_limit - idle_share, 0.0) / (1.0 - idle_share)); }

void turn(Hardware& hardware, const HardwareParameter& parameter, double value)
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
                scale_node_failures(hardware.reliability, static_cast<double>(group) / cluster.gpus_per_node());
            }
            cluster.tiers[parameter.tier].group_gpus = group;
            break;
        }
        case HardwareTarget::memory: accelerator.memory.si = value; break;
        case HardwareTarget::memory_bandwidth: accelerator.memory_bandwidth.si = value; break;
        case HardwareTarget::compute: scale_peaks(accelerator, value / accelerator.peak_bf16.si); break;
        case HardwareTarget::power:
            scale_peaks(accelerator, clock_at(value / accelerator.power.si));
            accelerator.power.si = value;
            break;
    }
}

bool nested(const Cluster& cluster)
{
    for (std::size_t i = 1; i < cluster.tiers.size(); ++i) {
        const int inner = cluster.tiers[i - 1].group_gpus;
        const int outer = cluster.tiers[i].group_gpus;
        const bool last = i + 1 == cluster.tiers.size();  // which joins all, be it one unit or the last one in part
        if (last ? outer < inner : outer <= inner || outer % inner != 0) {
            return false;
        }
    }
    return true;
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
    switch (parameter.target) {
        case HardwareTarget::bandwidth: return cluster.tiers[parameter.tier].bandwidth.si;
        case HardwareTarget::latency: return cluster.tiers[parameter.tier].latency.si;
        case HardwareTarget::oversubscription: return cluster.tiers[parameter.tier].oversubscription;
        case HardwareTarget::aggregate: return cluster.tiers[parameter.tier].aggregate.si;
        case HardwareTarget::group: return cluster.tiers[parameter.tier].group_gpus;
        case HardwareTarget::memory: return cluster.accelerator.memory.si;
        case HardwareTarget::memory_bandwidth: return cluster.accelerator.memory_bandwidth.si;
        case HardwareTarget::compute: return cluster.accelerator.peak_bf16.si;
        case HardwareTarget::power: return cluster.accelerator.power.si;
    }
    return 0.0;
}

std::optional<Hardware> turned(const Hardware& hardware, std::span<const HardwareParameter> hardware_parameters,
                               std::span<const double> values)
{
    Hardware result = hardware;
    for (std::size_t k = 0; k < hardware_parameters.size(); ++k) {
        const double extra = values[k] - value_of(hardware_parameters[k], hardware.cluster);
        result.cluster.gpu_price.si += extra * hardware_parameters[k].price_per_unit.si;
        turn(result, hardware_parameters[k], values[k]);
    }
    const Accelerator& accelerator = result.cluster.accelerator;
    const bool works = nested(result.cluster) && result.cluster.gpu_price.si > 0.0 && accelerator.peak_bf16.si > 0.0 &&
                       accelerator.memory > accelerator.memory_reserved;
    return works ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace prismopt
