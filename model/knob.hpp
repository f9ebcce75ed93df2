#pragma once

/// Numbers of a cluster that a co-design may turn, each with what it costs, and the network, where there are several to choose from.

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

/// bandwidth, latency, oversubscription, aggregate (of a circuit), group: of a tier; compute: peak of all precisions, named by that of
/// bf16; power: the board limit, which the clock and with it the peaks follow. workload: which network is trained; no number, so that it
/// has no name here.
enum class KnobTarget {
    bandwidth,
    latency,
    oversubscription,
    aggregate,
    group,
    memory,
    memory_bandwidth,
    compute,
    power,
    workload
};
template <>
inline constexpr auto names_of<KnobTarget> = std::to_array<Named<KnobTarget>>({{KnobTarget::bandwidth, "bandwidth"},
                                                                               {KnobTarget::latency, "latency"},
                                                                               {KnobTarget::oversubscription, "oversubscription"},
                                                                               {KnobTarget::aggregate, "aggregate"},
                                                                               {KnobTarget::group, "group"},
                                                                               {KnobTarget::memory, "memory"},
                                                                               {KnobTarget::memory_bandwidth, "memory_bandwidth"},
                                                                               {KnobTarget::compute, "compute"},
                                                                               {KnobTarget::power, "power"}});

struct Knob {
    KnobTarget target = KnobTarget::bandwidth;
    std::size_t tier = 0;                // of those of a tier
    std::string name;                    // "node.bandwidth", "memory"
    std::vector<double> levels{};        // SI, ascending; what the discrete search tries. Of workload: 0, 1, ...
    bool continuous = false;             // any value from the first to the last level may be tuned
    DollarsPerSecond price_per_unit{};   // of a GPU, for each SI unit above (or below) what the cluster has
    std::vector<std::string> choices{};  // of workload: names of the networks, by level
};

/// What the knob stands at in this cluster, SI.
double value_of(const Knob& knob, const Cluster& cluster);

/// A cluster and how it fails, with the knobs at these values.
struct Hardware {
    Cluster cluster;
    Reliability reliability;
};

/// The hardware with its knobs turned, or nothing where the groups of its tiers would not nest. A larger first tier is a larger
/// node: its failure rate grows with its GPUs, so that a GPU's stays. Power: dynamic power goes with the cube of the clock
/// (frequency times the square of the voltage, which follows it) above an idle share, and the peaks with the clock; memory and
/// network keep their speed. Source of the cube: Kim, Gupta, Wei, Brooks, HPCA 2008, section 2.
std::optional<Hardware> turned(const Hardware& hardware, std::span<const Knob> knobs, std::span<const double> values);

}  // namespace prismopt
