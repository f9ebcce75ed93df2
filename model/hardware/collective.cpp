#include "model/hardware/collective.hpp"

#include "model/hardware/torus.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace prismopt {

namespace {

/// A hop's latency: of software, which a protocol shortens, and of distance, which none does.
struct Latency {
    Seconds software{0.0};
    Seconds distance{0.0};
};

/// On circuits all of it is distance. Elsewhere what exceeds a network's own: 100 us is 20 km of fibre, and
/// more than any latency that was fitted to measured runs (catalog, links.toml).
Latency latency_of(const NetworkTier& tier)
{
    const Seconds software = tier.circuit() ? Seconds{0.0} : std::min(tier.latency, Seconds{100e-6});
    return {software, tier.latency - software};
}

/// Levels of a binary tree over so many.
double depth_of(double members) { return std::bit_width(static_cast<unsigned>(std::max(1.0, members)) - 1); }

/// Share of its bandwidth that a GPU has for `members` of its tier: of links to each
/// of the others those to members.
double share_of_links(const NetworkTier& tier, int members)
{
    const int links = tier.topology == Topology::full_mesh ? tier.group_gpus - 1 : 0;
    return links > 0 ? static_cast<double>(std::max(1, members - 1)) / links : 1.0;
}

/// A tier whose links a group uses.
struct Level {
    const NetworkTier& tier;
    bool between_nodes;
    Group::OnTier subunits;  // on the tier below: members in a unit, and units
    Group::OnTier units;     // on this one
    int below_gpus;          // of a unit of the tier below
};

/// Calls visit(level), innermost first.
template <class Visit>
void for_levels(const Group& group, const Cluster& cluster, Visit&& visit)
{
    Group::OnTier below{1, group.size};
    int unit = 1;
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        if (group.tiers[t].units < below.units) {
            visit(Level{cluster.tiers[t], cluster.joins_nodes(t), below, group.tiers[t], unit});
        }
        below = group.tiers[t];
        unit = gpus_joined(cluster.tiers[t], cluster);
    }
}

/// Bandwidth of the links of `members` out of a part; all GPUs behind a circuit send at the same time.
BytesPerSecond bandwidth_of(const Level& level, double members)
{
    const NetworkTier& tier = level.tier;
    const double links = share_of_links(tier, level.units.fewest);
    const BytesPerSecond own = tier.bandwidth * (links * tier.efficiency / tier.oversubscription);
    const BytesPerSecond shared = tier.aggregate * (tier.efficiency / level.below_gpus);
    return tier.goodput(tier.circuit() ? std::min(own, shared) : own) * members;
}

/// Of a ring through the members in order of placement. It leaves a part once, and NCCL spreads it over
/// the links of all its members inside: with c members in a unit, unit / c groups share the unit's
/// links, so each gets c links' worth.
BytesPerSecond ring_bandwidth(const Level& level) { return bandwidth_of(level, level.subunits.fewest); }

/// Latencies by what a protocol makes of them.
struct Hops {
    Seconds node{0.0};     // software latency inside nodes,
    Seconds network{0.0};  // and between them
    Seconds distance{0.0};

    void add(const Level& level, double times)
    {
        const Latency latency = latency_of(level.tier);
        if (level.between_nodes) {
            network += latency.software * times;
        } else {
            node += latency.software * times;
        }
        distance += latency.distance * times;
    }
};

/// What an algorithm does, for any protocol.
struct Course {
    Seconds transfer{0.0};  // of all bytes, at full bandwidth
    Hops hops;              // one after the other
    Hops chunk;             // what a chunk of the pipeline waits for; its distance does not count
};

/// A protocol of a library: its start, and shares of software latencies and of the bandwidth.
struct Protocol {
    Seconds start;
    double node = 1.0;
    double network = 1.0;
    double bandwidth = 1.0;

    Seconds of(const Hops& hops) const { return hops.node * node + hops.network * network; }
};

/// Chunks of a message of x seconds that wait for l seconds each take x + 2 sqrt(l x) if there are as many as
/// is best (docs/methods/collectives.md).
Seconds time_by(const Protocol& protocol, const Course& course, const CollectiveLibrary& library)
{
    const Seconds transfer = course.transfer / protocol.bandwidth;
    const Seconds waiting{2.0 * std::sqrt(library.fill * protocol.of(course.chunk).si * transfer.si)};
    return protocol.start + protocol.of(course.hops) + course.hops.distance + transfer + waiting;
}

Seconds fastest_protocol(const Course& course, const CollectiveLibrary& library)
{
    const Protocol simple{library.start};
    const Protocol low{library.low_latency_start, library.low_latency_in_nodes,
                       library.low_latency_between_nodes, library.low_latency_bandwidth};
    return std::min(time_by(simple, course, library), time_by(low, course, library));
}

double passes_of(Collective kind) { return kind == Collective::all_reduce ? 2.0 : 1.0; }

/// (k-1) steps, each as long as the mean of the ring's hops, at the pace of its slowest.
Seconds ring_time(Collective kind, Bytes message, const Group& group, const Cluster& cluster)
{
    Course course;
    const double steps = passes_of(kind) * (group.size - 1.0);
    for_levels(group, cluster, [&](const Level& level) {
        course.transfer = std::max(course.transfer, message * (steps / group.size) / ring_bandwidth(level));
        // The ring leaves each part once; where it leaves this tier's unit too, the hop is of a tier above.
        const double hops = level.subunits.units - (level.units.units > 1 ? level.units.units : 0);
        course.hops.add(level, steps * hops / group.size);
        course.chunk.add(level, 2.0 * hops / group.size);
    });
    return fastest_protocol(course, cluster.library);
}

/// What trees of an all-reduce do between nodes: each part sends its sum up and
/// the result down, but the root's.
Seconds tree_transfer(Bytes message, const Level& level, const CollectiveLibrary& library)
{
    const double faster =
        std::clamp(1.0 / level.tier.efficiency, 1.0, std::max(1.0, library.trees_between_nodes));
    const double nodes = level.subunits.units;
    return message * (2.0 * (nodes - 1.0) / nodes) / (ring_bandwidth(level) * faster);
}

/// Trees over nodes, and inside them chains, or sums in their switches: levels at once, or one after the
/// other; circuits always after the others.
Course tree_course(Bytes message, const Group& group, const Cluster& cluster, bool in_network)
{
    const int inside = group.tiers[cluster.node_tier()].fewest;
    const int nodes = group.tiers[cluster.node_tier()].units;
    Course course;
    Seconds within{0.0};
    Seconds between{0.0};
    Seconds circuits{0.0};
    for_levels(group, cluster, [&](const Level& level) {
        const double joined = static_cast<double>(level.subunits.units) / level.units.units;
        course.chunk = {};  // of the outermost level
        course.chunk.add(level, 2.0);
        if (level.between_nodes) {
            const Seconds transfer = tree_transfer(message, level, cluster.library);
            circuits += level.tier.circuit() ? transfer : Seconds{0.0};
            if (!level.tier.circuit()) {
                between = std::max(between, transfer);
            }
            course.hops.add(level, 2.0 * depth_of(joined));
        } else {
            const double links = level.subunits.units - level.units.units;
            within =
                std::max(within, message * (2.0 * (group.size - 1.0) / group.size) / ring_bandwidth(level));
            course.hops.add(level, in_network ? 0.0 : 2.0 * links / nodes);
        }
    });
    if (in_network) {
        const NetworkTier& switches = cluster.tiers[cluster.node_tier()];
        within = message * ((inside - 1.0) / inside) / (switches.bandwidth * switches.in_network);
    }
    course.transfer =
        circuits + (cluster.library.overlaps_levels ? std::max(within, between) : within + between);
    return course;
}

/// Share of the copies of its tokens that a member sends out of its unit, for
/// the unit with the fewest members.
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

/// Share of the bandwidth of rings that direct messages reach on a tier.
double share_of_direct(const NetworkTier& tier, bool between_nodes, const CollectiveLibrary& library)
{
    if (tier.all_to_all > 0.0) {
        return tier.all_to_all;
    }
    return between_nodes ? library.all_to_all_between_nodes : 1.0;
}

/// Each member has links of its own out of a unit. NCCL starts messages that leave
/// the node through a proxy (docs/methods/collectives.md).
CollectiveTime all_to_all_time(Bytes message, const TokenCopies& copies, const Group& group,
                               const Cluster& cluster)
{
    const bool once = copies.once > 0.0;
    const CollectiveLibrary& library = cluster.library;
    Course course;
    Seconds in_torus{0.0};
    bool leaves_node = false;
    for_levels(group, cluster, [&](const Level& level) {
        const NetworkTier& tier = level.tier;
        if (tier.topology == Topology::torus) {
            const Bytes inside = message * (static_cast<double>(level.units.fewest) / group.size);
            const bool even = level.units.units > 1 && level.units.fewest * level.units.units == group.size;
            in_torus = torus_time(Collective::all_to_all, inside,
                                  even ? split(group, level.units.fewest).local : group, tier);
            return;
        }
        const double direct = once ? 1.0 : share_of_direct(tier, level.between_nodes, library);
        BytesPerSecond bandwidth = bandwidth_of(level, 1.0) * direct;
        if (once && !level.between_nodes) {
            bandwidth = std::min(bandwidth, library.token_kernels);
        }
        course.transfer = std::max(course.transfer,
                                   share_leaving(copies, level.subunits, group.size) * message / bandwidth);
        course.hops = {};  // of the outermost level
        course.hops.add(level, 1.0);
        leaves_node = leaves_node || level.between_nodes;
    });
    if (course.transfer.si <= 0.0) {
        return {in_torus, Algorithm::direct};
    }
    const bool by_proxy = leaves_node && !once;
    const Seconds direct =
        by_proxy ? time_by({library.all_to_all_start}, course, library) : fastest_protocol(course, library);
    return {std::max(in_torus, direct), Algorithm::direct};
}

/// Without levels at once, a library adds in the switches of one node only.
bool adds_in_switches(const Group& group, const Cluster& cluster)
{
    const CollectiveLibrary& library = cluster.library;
    const NetworkTier& node = cluster.tiers[cluster.node_tier()];
    const Group::OnTier& inside = group.tiers[cluster.node_tier()];
    return node.in_network > 0.0 && node.topology == Topology::switched &&
           inside.fewest >= library.in_network_from && group.even() &&
           (inside.units == 1 || library.overlaps_levels);
}

/// Whether the group has equal parts in several units of the tier.
bool divides_equally(const Group& group, std::size_t tier)
{
    const auto [fewest, units] = group.tiers[tier];
    return fewest > 1 && units > 1 && group.even();
}

/// The fastest inside what a circuit joins, then one member of each with the shards over the circuit.
Seconds circuit_time(Collective kind, Bytes message, const GroupLevels& level, const Cluster& cluster)
{
    const auto time = [&](Collective phase, Bytes bytes, const Group& group) {
        return collective_time(phase, bytes, group, cluster).time;
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
    const NetworkTier& innermost = cluster.tiers.front();
    const bool torus = innermost.topology == Topology::torus;
    if (torus && group.tiers.front().units == 1) {
        return {torus_time(kind, message, group, innermost), Algorithm::torus};
    }
    CollectiveTime best{ring_time(kind, message, group, cluster), Algorithm::ring};
    const auto consider = [&](Seconds time, Algorithm algorithm) {
        if (time < best.time) {
            best = {time, algorithm};
        }
    };
    if (kind == Collective::all_reduce) {
        const CollectiveLibrary& library = cluster.library;
        consider(fastest_protocol(tree_course(message, group, cluster, false), library), Algorithm::tree);
        if (adds_in_switches(group, cluster)) {
            const Course course = tree_course(message, group, cluster, true);
            consider(time_by({library.in_network_start}, course, library), Algorithm::in_network);
        }
    }
    if (torus && divides_equally(group, 0)) {
        const auto [local, across] = split(group, group.tiers.front().fewest);
        consider(torus_time(kind, message, local, innermost) +
                     ring_time(kind, message / local.size, across, cluster),
                 Algorithm::hierarchical);
    }
    for (std::size_t t = 1; t < cluster.tiers.size() && !cluster.flat_collectives; ++t) {
        const Group::OnTier& below = group.tiers[t - 1];
        if (cluster.tiers[t].circuit() && group.tiers[t].units < below.units &&
            divides_equally(group, t - 1)) {
            consider(circuit_time(kind, message, split(group, below.fewest), cluster),
                     Algorithm::hierarchical);
        }
    }
    return best;
}

double bus_factor(Collective kind, int members) { return passes_of(kind) * (members - 1.0) / members; }

Seconds slowest_collective(Collective kind, Bytes message, const Groups& groups, const Cluster& cluster)
{
    Seconds slowest{0.0};
    for (const Group& group : groups) {
        slowest = std::max(slowest, collective_time(kind, message, group, cluster).time);
    }
    return slowest;
}

Seconds token_exchange_time(Bytes message, const TokenCopies& copies, const Group& group,
                            const Cluster& cluster)
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
    const int rank_distance = std::abs(from - to);
    for (std::size_t tier = cluster.tiers.size() - 1; rank_distance > 0 && tier-- > 0;) {
        const int unit = cluster.tiers[tier].group_gpus;
        // the first that leaves its unit
        const int leaves = rank_distance >= unit ? 0 : std::max(0, unit - rank_distance - first % unit);
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
    const double reached =
        tier.point_to_point > 0.0 ? tier.point_to_point : tier.efficiency * share_of_links(tier, 2);
    BytesPerSecond rate = tier.goodput(tier.bandwidth * (reached * share));
    for (std::size_t t = 1; t <= crossed; ++t) {
        const NetworkTier& circuit = cluster.tiers[t];
        const int unit = gpus_joined(cluster.tiers[t - 1], cluster);
        if (circuit.circuit()) {
            rate = std::min(
                rate, circuit.goodput(circuit.aggregate * (circuit.efficiency / std::min(flows, unit))));
        }
    }
    Course course{message / rate, {}, {}};
    const Latency latency = latency_of(tier);
    if (cluster.joins_nodes(crossed)) {
        course.hops.network = latency.software;
    } else {
        course.hops.node = latency.software;
    }
    course.hops.distance = latency.distance;
    return fastest_protocol(course, cluster.library);
}

}  // namespace prismopt
