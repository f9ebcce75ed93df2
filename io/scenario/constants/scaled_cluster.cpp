#include "io/scenario/constants/scaled_cluster.hpp"

#include "io/scenario/scenario.hpp"

#include <algorithm>
#include <utility>

namespace prismopt {

namespace {

bool is(const std::string& text, const char* other) { return text == other; }

void scale_accelerator(Accelerator& a, const std::string& key, double factor)
{
    Efficiency& e = a.efficiency;
    if (is(key, "launch")) {
        a.launch.si *= factor;
        return;
    }
    (is(key, "gemm")                 ? e.gemm
     : is(key, "gemm_low")           ? e.gemm_low
     : is(key, "attention")          ? e.attention
     : is(key, "attention_backward") ? e.attention_backward
                                     : e.memory) *= factor;
}

/// Shares of a stack are part of the accelerator's and of the tiers'.
void scale_stack(Cluster& cluster, const std::string& key, double factor)
{
    Efficiency& e = cluster.accelerator.efficiency;
    SoftwareStack& s = cluster.stack;
    if (is(key, "gemm")) {
        e.gemm *= factor;
        e.gemm_low *= factor;
    } else if (is(key, "attention")) {
        e.attention *= factor;
        e.attention_backward *= factor;
    } else if (is(key, "memory")) {
        e.memory *= factor;
    } else if (is(key, "network")) {
        for (NetworkTier& tier : cluster.tiers) {
            tier = under(tier, SoftwareStack{.network = factor});
        }
    } else {
        (is(key, "routing") ? s.routing
         : is(key, "host")  ? s.host.si
         : is(key, "step")  ? s.step.si
                            : s.communication_share) *= factor;
    }
}

bool has(const FittedConstant& constant, const std::string& entry)
{
    return std::find(constant.entries.begin(), constant.entries.end(), entry) != constant.entries.end();
}

double& constant_of(NetworkTier& tier, const std::string& key) { return is(key, "latency") ? tier.latency.si : tier.efficiency; }

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

Cluster scaled(Cluster cluster, const FittedConstant& constant, double factor)
{
    if (has(constant, cluster.stack.name)) {
        scale_stack(cluster, constant.key, factor);
        return cluster;
    }
    if (has(constant, cluster.accelerator.catalog_entry)) {
        scale_accelerator(cluster.accelerator, constant.key, factor);
        return cluster;
    }
    for (NetworkTier& tier : cluster.tiers) {
        if (has(constant, link_of(tier, cluster.stack))) {
            constant_of(tier, constant.key) *= factor;
        }
    }
    return cluster;
}

Cluster slowed(Cluster cluster, double factor)
{
    Accelerator& accelerator = cluster.accelerator;
    for (double* share : {&accelerator.efficiency.gemm, &accelerator.efficiency.gemm_low, &accelerator.efficiency.attention,
                          &accelerator.efficiency.attention_backward, &accelerator.efficiency.memory}) {
        *share /= factor;
    }
    accelerator.launch.si *= factor;
    accelerator.host_link.si /= factor;
    accelerator.host_memory_bandwidth.si /= factor;
    cluster.stack.host.si *= factor;
    cluster.stack.step.si *= factor;
    for (NetworkTier& tier : cluster.tiers) {
        tier.efficiency /= factor;
        tier.in_network /= factor;
        tier.point_to_point /= factor;
        tier.latency.si *= factor;
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
