#include "optimizer/accuracy/unlike.hpp"

#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/reading/scaled_cluster.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "model/hardware/machine_constants.hpp"
#include "optimizer/accuracy/model_interval.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace prismopt {

namespace {

/// Distance of two values of a constant, 0 to 1, as unlike_catalog() says. Values are equal to the rounding
/// of their units: "20300 ns" is "20.3 us".
double unlikeness(double now, double before)
{
    constexpr double rounding = 1e-9;
    if (std::abs(now - before) <= rounding * std::max(std::abs(now), std::abs(before))) {
        return 0.0;
    }
    return now > 0.0 && before > 0.0 ? std::min(1.0, std::abs(std::log2(now / before))) : 1.0;
}

/// The largest distance of the constants for which `counts`.
template <class Owner, class Counts>
double unlikeness(Owner now, Owner before, Counts&& counts)
{
    double farthest = 0.0;
    for (const MachineConstant<Owner>& constant : constants_of<Owner>()) {
        if (counts(constant)) {
            farthest = std::max(farthest, unlikeness(constant.of(now), constant.of(before)));
        }
    }
    return farthest;
}

}  // namespace

Cluster as_in_catalog(const Cluster& cluster)
{
    Cluster result = cluster;
    const bool known = !cluster.accelerator.catalog_entry.empty();
    if (known) {
        result.accelerator = under(catalog_accelerator(cluster.accelerator.catalog_entry), cluster.stack);
    }
    for (NetworkTier& tier : result.tiers) {
        if (const std::string name = link_of(tier, cluster.stack); !name.empty()) {
            NetworkTier link = under(catalog_link(name), cluster.stack);
            for (const MachineConstant<NetworkTier>& constant : constants_of<NetworkTier>()) {
                constant.of(tier) = constant.of(link);
            }
        }
    }
    result = with_learned(std::move(result), cluster.learned, cluster.learned_time);
    result.stack = cluster.stack;  // what is not of the catalog has its learned factors already
    if (!known) {
        result.accelerator = cluster.accelerator;
    }
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        if (result.tiers[t].catalog_entry.empty()) {
            result.tiers[t] = cluster.tiers[t];
        }
    }
    return result;
}

double unlike_link(const NetworkTier& tier, const NetworkTier& link, LinkConstants of)
{
    if (link.catalog_entry.empty()) {
        return 1.0;
    }
    return unlikeness(tier, link, [of](const MachineConstant<NetworkTier>& constant) {
        return (constant.kind == ConstantKind::time) == (of == LinkConstants::latency);
    });
}

double unlike(const Accelerator& a, const Accelerator& b)
{
    return std::max(unlikeness(a, b, [](const MachineConstant<Accelerator>&) { return true; }),
                    unlikeness(a.multiprocessors, b.multiprocessors));
}

double unlike_catalog(const Cluster& cluster)
{
    const Accelerator& accelerator = cluster.accelerator;
    return accelerator.catalog_entry.empty() ? 1.0 : unlike(accelerator, as_in_catalog(cluster).accelerator);
}

bool knows(const FittedModel& model, const Accelerator& accelerator)
{
    return rows_on(model, accelerator.catalog_entry) > 0;
}

bool has_own_software(const Cluster& cluster) { return cluster.stack.own || cluster.library.own; }

}  // namespace prismopt
