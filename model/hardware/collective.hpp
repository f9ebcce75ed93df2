#pragma once

/// Mean times of collectives over the network tiers that a group really crosses.

#include "model/base/units.hpp"
#include "model/hardware/hardware.hpp"

namespace prismopt {

/// Group members are `stride` GPUs apart in the order of placement. The GPUs between them belong to groups of the same kind
/// that run at the same time and share the links.
struct Group {
    int size = 1;
    int stride = 1;
    // Where a group has equal parts in several buildings: `stride` is within one, and the parts lie at the same places of each.
    int buildings = 1;
    int building_gpus = 0;
};

/// A group as parts of `inside` neighbours each, and one member of each part. `inside` divides the size and the members that a
/// building has, or is a multiple of these.
struct GroupLevels {
    Group local;
    Group across;
};
GroupLevels split(const Group& group, int inside);

enum class Algorithm { ring, tree, hierarchical, in_network, direct };

struct CollectiveTime {
    Seconds time;
    Algorithm algorithm = Algorithm::ring;
};

/// Fastest algorithm for the group, as NCCL's tuner chooses. `message`: the whole vector (input of an all-reduce or a
/// reduce-scatter, output of an all-gather; what one member sends and keeps in an all-to-all).
///
/// ring: k-1 steps of S/k for all-gather and reduce-scatter, twice that for all-reduce; the slowest edge sets the pace.
///   Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009) 117-124.
/// tree: double binary tree, all-reduce only: 2 S / B + 2 ceil(log2 k) latency. Sanders et al., Parallel Computing 35 (2009).
/// hierarchical: the ring inside each unit of the first tier, then rings of one member a unit with the shards.
///   Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005) 49-66, applied per tier. So too below each circuit (NetworkTier::aggregate)
///   that the group crosses: the fastest inside, then the shards between buildings, campuses, regions.
/// in network: all-reduce only, of members that one innermost unit joins, where its switches add: each member sends and receives
///   the message once (NVLS). Klenk et al., "An In-Network Architecture for Accelerating Shared-Memory Multiprocessor
///   Collectives", ISCA 2020, section 4. Of a group over several units it does the part inside.
/// direct: all-to-all only: each member sends S/k to each other, at once over the links of all tiers; the slowest tier sets the
///   pace. As NCCL's grouped sends and receives.
/// Short messages go by the low-latency protocol: a sixth of a hop's latency at half of the bandwidth (Hu et al., arXiv
/// 2507.04786, table 1).
/// A circuit's bandwidth is divided by the groups that cross it, so a group's share falls as the GPUs of a building grow.
/// Leaves out: sums in the switches between units (SHARP), congestion between unlike groups.
CollectiveTime collective_time(Collective kind, Bytes message, const Group& group, const Cluster& cluster);

/// All-to-all of tokens to `copies` experts each, spread evenly over the group, when a token crosses each tier once for a unit
/// that has experts for it, and is copied on there: of U units 1 - (1 - 1/U)^copies are needed.
/// Source: DeepSeek-V3, arXiv 2412.19437, section 3.2.2. `message` as in collective_time(): with all copies.
Seconds token_exchange_time(Bytes message, double copies, const Group& group, const Cluster& cluster);

/// One message between two GPUs (positions in the order of placement), over the innermost tier that holds both.
///
/// `flows` neighbours in placement send at the same time (all GPUs of a stage that sit together): where more of them leave a unit
/// than its oversubscribed links carry at full rate, they share.
Seconds point_to_point_time(Bytes message, int from, int to, int flows, const Cluster& cluster);

/// The innermost tier that holds both GPUs; or all of a group.
std::size_t tier_between(int from, int to, const Cluster& cluster);
std::size_t tier_around(const Group& group, const Cluster& cluster);

/// Members of the group inside one unit of a tier (at least one, at most all).
int members_inside(const Group& group, const NetworkTier& tier, const Cluster& cluster);

}  // namespace prismopt
