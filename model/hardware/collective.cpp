#include "model/hardware/collective.hpp"

#include "model/hardware/torus.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace prismopt {

namespace {

/// A hop's latency: of software, which a protocol shortens, and of distance, which none does.
struct Latency {
    Seconds software{0.0};
    Seconds distance{0.0};
};

/// On circuits all of it is distance. Elsewhere what exceeds a network's own: 100 us is 20 km of fibre, and more than any latency
/// that was fitted to measured runs (catalog, links.toml).
Latency latency_of(const NetworkTier& tier)
{
    const Seconds software = tier.circuit() ? Seconds{0.0} : std::min(tier.latency, Seconds{100e-6});
    return {software, tier.latency - software};
}

struct Edge {
    BytesPerSecond bandwidth;  // of one group's traffic over the slowest edge of its ring
    Latency latency;           // mean over the hops of the ring
    Seconds to_root = {};      // distance from the farthest leaf of a tree that crosses each tier as rarely as can be
};

/// Levels of a binary tree over so many.
double depth_of(double members) { return std::bit_width(static_cast<unsigned>(std::max(1.0, members)) - 1); }

/// Share of its bandwidth that a GPU has for `members` of its tier: of links to each of the others those to members.
double share_of_links(const NetworkTier& tier, int members)
{
    const int links = tier.topology == Topology::full_mesh ? tier.group_gpus - 1 : 0;
    return links > 0 ? static_cast<double>(std::max(1, members - 1)) / links : 1.0;
}

/// Share of a circuit that `members` of the `unit` GPUs behind it have, all of which send.
BytesPerSecond circuit_share(const NetworkTier& tier, int unit, double members)
{
    return tier.goodput(tier.aggregate * (tier.efficiency / unit)) * members;
}

/// Pace of a ring through the members in order of placement.
///
/// Such a ring leaves a unit once, and NCCL spreads it over the links of all its members inside: with c members in a unit,
/// unit / c groups share the unit's links, so each gets c links' worth, less the oversubscription.
Edge slowest_edge(const Group& group, const Cluster& cluster)
{
    Edge edge{BytesPerSecond{std::numeric_limits<double>::infinity()}, {}};
    Group::OnTier below{1, group.size};  // on the tier below: members in a unit, and units
    int unit = 1;                        // GPUs of one
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        const NetworkTier& tier = cluster.tiers[t];
        const Group::OnTier& here = group.tiers[t];
        if (here.units < below.units) {
            const double links = share_of_links(tier, here.fewest);
            const BytesPerSecond share =
                tier.goodput(tier.bandwidth * (links * tier.efficiency / tier.oversubscription)) * below.fewest;
            edge.bandwidth = std::min(edge.bandwidth, share);
            if (tier.circuit()) {
                edge.bandwidth = std::min(edge.bandwidth, circuit_share(tier, unit, below.fewest));
            }
            // The ring leaves each unit of the tier below once; where it leaves this tier's unit too, the hop is of a tier above.
            const double hops = below.units - (here.units > 1 ? here.units : 0);
            const Latency latency = latency_of(tier);
            edge.latency.software += latency.software * (hops / group.size);
            edge.latency.distance += latency.distance * (hops / group.size);
            edge.to_root += latency.distance * depth_of(static_cast<double>(below.units) / here.units);
        }
        below = here;
        unit = gpus_joined(tier, cluster);
    }
    return edge;
}

/// Shares of a hop's software latency and of the bandwidth that NCCL's protocol for short messages has.
/// Source: Hu et al., "Demystifying NCCL", arXiv 2507.04786, table 1: 1 us against 6 us, at most half of the bandwidth.
constexpr double low_latency = 1.0 / 6.0;
constexpr double low_latency_bandwidth = 0.5;

/// Time of `hops` hops one after the other that carry `traffic` in all over a distance, by the faster protocol.
Seconds protocol_time(Bytes traffic, double hops, const Edge& edge, Seconds distance)
{
    const Seconds simple = traffic / edge.bandwidth + hops * edge.latency.software;
    const Seconds low = traffic / (edge.bandwidth * low_latency_bandwidth) + hops * low_latency * edge.latency.software;
    return std::min(simple, low) + distance;
}

Seconds ring_time(Collective kind, Bytes message, int size, const Edge& edge)
{
    const double passes = kind == Collective::all_reduce ? 2.0 : 1.0;
    const double steps = size - 1.0;
    return protocol_time(passes * (steps / size) * message, passes * steps, edge, passes * steps * edge.latency.distance);
}

Seconds tree_time(Bytes message, int size, const Edge& edge)
{
    return protocol_time(2.0 * message, 2.0 * depth_of(size), edge, 2.0 * edge.to_root);
}

/// All-reduce inside the innermost unit by its switches: one hop to them and one back.
Seconds in_network_time(Bytes message, const NetworkTier& tier)
{
    if (tier.in_network <= 0.0) {
        return Seconds{std::numeric_limits<double>::infinity()};
    }
    return message / (tier.bandwidth * tier.in_network) + 2.0 * tier.latency;
}

/// Share of the copies of its tokens that a member sends out of its unit, for the unit with the fewest members.
double share_leaving(const TokenCopies& copies, const Group::OnTier& unit, double size)
{
    const double leaving = (size - unit.fewest) / size;
    if (copies.once <= 0.0) {
        return leaving;
    }
    const double others = unit.units - 1.0;
    if (copies.nodes > 0.0 && unit.fewest > 1 && copies.nodes < unit.units) {
        const double reached = copies.nodes * (1.0 - std::pow(1.0 - 1.0 / copies.nodes, copies.once));
        return others / unit.units * reached / copies.once;
    }
    // The others hold the rest of the members in equal parts.
    return others > 0.0 ? others * (1.0 - std::pow(1.0 - leaving / others, copies.once)) / copies.once : 0.0;
}

/// Share of what rings reach between nodes that an all-to-all of NCCL reaches there: 22.6 of 38.5 GB/s per GPU for 16 B200 in two
/// nodes (public report "B200 / Vultr POC cluster test summary", 2026-05-18, section 10). Inside nodes both reach as much
/// (section 1), and so do kernels that send tokens once (deepseek-ai/DeepEP, README.md, table of normal kernels).
constexpr double direct_between_nodes = 0.59;

double share_of_direct(const TokenCopies& copies, std::size_t t, const NetworkTier& tier)
{
    if (copies.once > 0.0) {
        return 1.0;
    }
    if (tier.all_to_all > 0.0) {
        return tier.all_to_all;
    }
    return t > 0 ? direct_between_nodes : 1.0;
}

/// Each member has links of its own out of a unit.
CollectiveTime all_to_all_time(Bytes message, const TokenCopies& copies, const Group& group, const Cluster& cluster)
{
    CollectiveTime result{Seconds{0.0}, Algorithm::direct};
    Group::OnTier below{1, group.size};  // on the tier below: members in a unit, and units
    int unit = 1;                        // GPUs of one
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        const NetworkTier& tier = cluster.tiers[t];
        const Group::OnTier& here = group.tiers[t];
        if (here.units < below.units && tier.topology == Topology::torus) {
            const Bytes inside_torus = message * (static_cast<double>(here.fewest) / group.size);
            const Group local = here.units > 1 && group.even_on(t) ? split(group, here.fewest).local : group;
            result.time = std::max(result.time, torus_time(Collective::all_to_all, inside_torus, local, tier));
        } else if (here.units < below.units) {
            const double leaving = share_leaving(copies, below, group.size);
            const double links = share_of_links(tier, here.fewest);
            const double direct = share_of_direct(copies, t, tier);
            BytesPerSecond share = tier.goodput(tier.bandwidth * (links * direct * tier.efficiency / tier.oversubscription));
            if (tier.circuit()) {
                share = std::min(share, circuit_share(tier, unit, 1.0));
            }
            const Latency latency = latency_of(tier);
            result.time = std::max(result.time, protocol_time(leaving * message, 2.0, {share, latency}, latency.distance));
        }
        below = here;
        unit = gpus_joined(tier, cluster);
    }
    return result;
}

/// Whether the group has equal parts in several units of the tier.
bool in_equal_parts(const Group& group, std::size_t tier)
{
    const auto [fewest, units] = group.tiers[tier];
    return fewest > 1 && units > 1 && group.even();
}

/// The fastest inside what a circuit joins, then one member of each with the shards over the circuit.
Seconds circuit_time(Collective kind, Bytes message, const GroupLevels& level, const Cluster& cluster)
{
    const auto time = [&](Collective part, Bytes bytes, const Group& group) {
        return collective_time(part, bytes, group, cluster).time;
    };
    const Seconds across = time(kind, message / level.local.size, level.across);
    if (kind == Collective::all_reduce) {
        return time(Collective::reduce_scatter, message, level.local) + across +
               time(Collective::all_gather, message, level.local);
    }
    return time(kind, message, level.local) + across;
}

}  // namespace

CollectiveTime collective_time(Collective kind, Bytes message, const Group& group, const Cluster& cluster)
{
    if (group.size <= 1 || message.si <= 0.0) {
        return {};
    }
    if (kind == Collective::all_to_all) {
        return all_to_all_time(message, {}, group, cluster);
    }
    const auto [inside, units] = group.tiers.front();
    const bool in_torus = cluster.tiers.front().topology == Topology::torus;
    if (in_torus && units == 1) {
        return {torus_time(kind, message, group, cluster.tiers.front()), Algorithm::torus};
    }
    const Edge edge = slowest_edge(group, cluster);
    CollectiveTime best{ring_time(kind, message, group.size, edge), Algorithm::ring};
    const auto consider = [&](Seconds time, Algorithm algorithm) {
        if (time < best.time) {
            best = {time, algorithm};
        }
    };
    if (kind == Collective::all_reduce) {
        consider(tree_time(message, group.size, edge), Algorithm::tree);
    }
    const bool adds = kind == Collective::all_reduce && cluster.tiers.front().in_network > 0.0;
    if (adds && units == 1) {
        consider(in_network_time(message, cluster.tiers.front()), Algorithm::in_network);
    }
    if (in_equal_parts(group, 0)) {
        const auto [local, across] = split(group, inside);
        Seconds within = in_torus ? torus_time(kind, message, local, cluster.tiers.front())
                                  : ring_time(kind, message, inside, slowest_edge(local, cluster));
        if (adds) {
            within = std::min(within, in_network_time(message, cluster.tiers.front()));
        }
        consider(within + ring_time(kind, message / inside, across.size, slowest_edge(across, cluster)), Algorithm::hierarchical);
    }
    for (std::size_t t = 1; t < cluster.tiers.size() && !cluster.flat_collectives; ++t) {
        const Group::OnTier& below = group.tiers[t - 1];
        if (cluster.tiers[t].circuit() && group.tiers[t].units < below.units && in_equal_parts(group, t - 1)) {
            consider(circuit_time(kind, message, split(group, below.fewest), cluster), Algorithm::hierarchical);
        }
    }
    return best;
}

Seconds slowest_collective(Collective kind, Bytes message, const Groups& groups, const Cluster& cluster)
{
    Seconds slowest{0.0};
    for (const Group& group : groups) {
        slowest = std::max(slowest, collective_time(kind, message, group, cluster).time);
    }
    return slowest;
}

Seconds token_exchange_time(Bytes message, const TokenCopies& copies, const Group& group, const Cluster& cluster)
{
    return group.size <= 1 ? Seconds{0.0} : all_to_all_time(message, copies, group, cluster).time;
}

std::size_t tier_between(int from, int to, const Cluster& cluster)
{
    std::size_t crossed = 0;
    while (crossed + 1 < cluster.tiers.size() &&
           from / cluster.tiers[crossed].group_gpus != to / cluster.tiers[crossed].group_gpus) {
        ++crossed;
    }
    return crossed;
}

int widest_message(int from, int to, int count, const Cluster& cluster)
{
    const int first = std::min(from, to);
    const int apart = std::abs(from - to);
    for (std::size_t tier = cluster.tiers.size() - 1; apart > 0 && tier-- > 0;) {
        const int unit = cluster.tiers[tier].group_gpus;
        const int leaves = apart >= unit ? 0 : std::max(0, unit - apart - first % unit);  // the first that leaves its unit
        if (leaves < count) {
            return leaves;
        }
    }
    return 0;
}

Seconds point_to_point_time(Bytes message, int from, int to, int flows, const Cluster& cluster)
{
    const std::size_t crossed = tier_between(from, to, cluster);
    const NetworkTier& tier = cluster.tiers[crossed];
    if (tier.topology == Topology::torus) {
        return torus_message_time(message, from % tier.group_gpus, to % tier.group_gpus, tier);
    }
    double share = 1.0;
    if (crossed > 0) {
        const int unit = gpus_joined(cluster.tiers[crossed - 1], cluster);
        share = std::min(1.0, unit / (tier.oversubscription * std::min(flows, unit)));
    }
    const double reached = tier.point_to_point > 0.0 ? tier.point_to_point : tier.efficiency * share_of_links(tier, 2);
    BytesPerSecond rate = tier.goodput(tier.bandwidth * (reached * share));
    for (std::size_t t = 1; t <= crossed; ++t) {
        const int unit = gpus_joined(cluster.tiers[t - 1], cluster);
        if (cluster.tiers[t].circuit()) {
            rate = std::min(rate, circuit_share(cluster.tiers[t], std::min(flows, unit), 1.0));
        }
    }
    return tier.latency + message / rate;
}

}  // namespace prismopt
