#include "io/scenario/reading/scaled_cluster.hpp"

#include "io/scenario/sections/catalog.hpp"
#include "model/hardware/machine_constants.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {

namespace {

/// Whether the stack's constant of this key multiplies constants of Owner.
template <class Owner>
bool is_factor(const std::string& key)
{
    const auto rows = constants_of<Owner>();
    SoftwareStack stack;
    const double& of_stack = constant_of<SoftwareStack>(key).of(stack);
    return std::any_of(rows.begin(), rows.end(), [&](const MachineConstant<Owner>& row) {
        return row.factor_of_stack != nullptr && &(stack.*row.factor_of_stack) == &of_stack;
    });
}

/// Multiplies a constant of the stack: a factor of shares where they are, in the accelerator and the tiers.
void scale_stack(Cluster& cluster, const std::string& key, double factor)
{
    SoftwareStack factors;
    constant_of<SoftwareStack>(key).of(factors) = factor;
    const bool of_shares = is_factor<Accelerator>(key) || is_factor<NetworkTier>(key);
    if (!of_shares) {
        constant_of<SoftwareStack>(key).of(cluster.stack) *= factor;
        return;
    }
    factors.launch = Seconds{0.0};
    cluster.accelerator = under(cluster.accelerator, factors);
    for (NetworkTier& tier : cluster.tiers) {
        tier = under(tier, factors);
    }
}

bool has(const FittedConstant& constant, const std::string& entry)
{
    return std::find(constant.entries.begin(), constant.entries.end(), entry) != constant.entries.end();
}

}  // namespace

std::string link_of(const NetworkTier& tier, const SoftwareStack& stack)
{
    if (!tier.catalog_entry.empty()) {
        return tier.catalog_entry;
    }
    for (const std::string& link : catalog_links()) {
        const NetworkTier of_catalog = under(catalog_link(link), stack);
        if (tier.bandwidth.si == of_catalog.bandwidth.si && tier.efficiency == of_catalog.efficiency &&
            tier.latency.si == of_catalog.latency.si) {
            return link;
        }
    }
    return {};
}

bool uses(const Cluster& cluster, const FittedConstant& constant)
{
    return has(constant, cluster.stack.name) || has(constant, cluster.library.name) ||
           has(constant, cluster.accelerator.catalog_entry) ||
           std::any_of(cluster.tiers.begin(), cluster.tiers.end(),
                       [&](const NetworkTier& tier) { return has(constant, link_of(tier, cluster.stack)); });
}

Cluster scaled(Cluster cluster, const FittedConstant& constant, double factor)
{
    if (has(constant, cluster.stack.name)) {
        scale_stack(cluster, constant.key, factor);
        return cluster;
    }
    if (has(constant, cluster.library.name)) {
        constant_of<CollectiveLibrary>(constant.key).of(cluster.library) *= factor;
        return cluster;
    }
    if (has(constant, cluster.accelerator.catalog_entry)) {
        constant_of<Accelerator>(constant.key).of(cluster.accelerator) *= factor;
        return cluster;
    }
    for (NetworkTier& tier : cluster.tiers) {
        if (has(constant, link_of(tier, cluster.stack))) {
            constant_of<NetworkTier>(constant.key).of(tier) *= factor;
        }
    }
    return cluster;
}

Cluster slowed(Cluster cluster, double factor)
{
    slow_down(cluster.accelerator, factor);
    slow_down(cluster.stack, factor);
    slow_down(cluster.library, factor);
    for (NetworkTier& tier : cluster.tiers) {
        slow_down(tier, factor);
        tier.aggregate.si /= factor;
    }
    return cluster;
}

Cluster with_learned(Cluster cluster, const std::vector<LearnedConstant>& constants, double time)
{
    for (NetworkTier& tier : cluster.tiers) {
        tier.catalog_entry = link_of(tier, cluster.stack);  // its numbers will not show it
    }
    for (const LearnedConstant& constant : constants) {
        cluster = scaled(std::move(cluster), {constant.key, constant.entries}, constant.factor);
    }
    cluster = slowed(std::move(cluster), time);
    cluster.learned = constants;
    cluster.learned_time = time;
    return cluster;
}

Cluster without_learned(Cluster cluster)
{
    const std::vector<LearnedConstant> constants = std::move(cluster.learned);
    cluster = slowed(std::move(cluster), 1.0 / cluster.learned_time);
    for (const LearnedConstant& constant : constants) {
        cluster = scaled(std::move(cluster), {constant.key, constant.entries}, 1.0 / constant.factor);
    }
    cluster.learned.clear();
    cluster.learned_time = 1.0;
    return cluster;
}

}  // namespace prismopt
