#pragma once

/// Mean times of collectives and messages over the network tiers that they
/// cross. docs/methods/collectives.md.

#include "model/base/units.hpp"
#include "model/hardware/group.hpp"
#include "model/hardware/hardware.hpp"

namespace prismopt {

enum class Algorithm { ring, tree, hierarchical, in_network, direct, torus };

struct CollectiveTime {
    Seconds time;
    Algorithm algorithm = Algorithm::ring;
};

/// Returns the time of the fastest algorithm for the group, as NCCL's tuner does. `message`: the whole
/// vector, in bytes (input of an all-reduce or a reduce-scatter, output of an all-gather; bytes that one
/// member sends and keeps in an all-to-all).
///
///     ring           (k-1) steps of S/k, twice that for all-reduce; the slowest edge sets the pace
///     tree           all-reduce: double binary trees over nodes, chains inside them
///     in_network     all-reduce: trees over nodes, and sums in the switches of each node
///     direct         all-to-all: S/k to each other member; the slowest tier sets the pace
///     torus          inside a torus, over the links of all axes that the group spans
///     hierarchical   in each torus, or in each building, then between them with the shards
///
/// Trees pass chunks on between nodes while they sum others inside, so the slower level sets the pace. Each
/// algorithm runs with the faster of two protocols; a circuit's bandwidth is divided by the groups that cross
/// it. Not modelled: sums in the switches between nodes (SHARP), congestion between unlike groups. Formulas
/// and sources: docs/methods/collectives.md.
///
/// A group that fills units unevenly is as slow as its members in the unit that holds the fewest of them:
/// they send more of their data out of the unit, and a ring leaves it over their links alone. It has no sums
/// in switches and no hierarchical algorithm.
CollectiveTime collective_time(Collective kind, Bytes message, const Group& group, const Cluster& cluster);
inline CollectiveTime collective_time(Collective kind, Bytes message, const Spacing& group,
                                      const Cluster& cluster)
{
    return collective_time(kind, message, group_of(group, cluster), cluster);
}

/// Bus bandwidth is this times S over the time (nccl-tests, doc/PERFORMANCE.md): bytes over the slowest link
/// of a ring, per byte of the message.
double bus_factor(Collective kind, int members);

/// Returns the longest time that one of the groups takes; zero without groups.
Seconds slowest_collective(Collective kind, Bytes message, const Groups& groups, const Cluster& cluster);

/// How a token travels to its experts.
struct TokenCopies {
    // experts per token, of which it crosses each tier once per unit that has some; 0: each copy is sent
    double once = 0.0;
    double nodes = 0.0;  // most units of a tier beyond the first that a token is sent to; 0: no limit
};
/// Returns the time of an all-to-all of tokens whose experts are spread evenly over the group. Sent
/// once, a token reaches of U units a fraction 1 - (1 - 1/U)^k, and is copied on there (DeepSeek-V3,
/// arXiv 2412.19437, section 3.2.2); GPUs are the innermost units. `message` as in
/// collective_time(), with all copies.
Seconds token_exchange_time(Bytes message, const TokenCopies& copies, const Group& group,
                            const Cluster& cluster);

/// Returns the time of one message between two GPUs (positions in placement order), over the
/// innermost tier that holds both.
///
/// `flows` neighbours in placement send at the same time (all adjacent GPUs of a stage). They share the links
/// of a unit if more of them send out of it than its oversubscribed links carry at full rate.
Seconds point_to_point_time(Bytes message, int from, int to, int flows, const Cluster& cluster);

/// Returns the innermost tier that holds both GPUs.
std::size_t tier_between(int from, int to, const Cluster& cluster);

/// Of `count` messages at the same time, from + i to to + i, returns the i of one
/// that crosses the outermost tier.
int widest_message(int from, int to, int count, const Cluster& cluster);

}  // namespace prismopt
