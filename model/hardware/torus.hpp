#pragma once

/// Collectives and messages inside a torus or mesh, where each accelerator has links to its neighbours along
/// each axis (TPU, Trainium). docs/methods/collectives.md.

#include "model/hardware/group.hpp"
#include "model/hardware/hardware.hpp"

#include <vector>

namespace prismopt {

/// Part of one axis that a group spans.
struct AxisSpan {
    int members = 1;    // along the axis
    int spacing = 1;    // hops between neighbours of the group; so many groups share the links
    bool ring = false;  // the span is closed to a ring
};

/// Returns the links of one accelerator: two along an axis that is closed to a ring; along one of n positions
/// that is not, 2 (n-1)/n on average, as those at its ends have one.
double links_of_gpu(const NetworkTier& torus);

/// Returns the spans of a group, one per axis of the tier. A span that the group fills in part is rounded up.
std::vector<AxisSpan> axis_spans(const Group& group, const NetworkTier& torus);

/// Returns the time of a collective of a group inside one torus. `message` as in collective_time().
///
/// With W_a = 2 links' bandwidth of axis a (half on an axis without wrap-around), shared by
/// `spacing` groups, and N members:
///
///     all-gather, reduce-scatter   (N-1)/N V / sum W_a, over the axes that the group spans
///     all-reduce                   twice that
///     all-to-all                   max over axes of m members / (4 W_a), m: message of one member
///
/// but at least a latency per hop along each axis: members/2 on a ring, members - 1 on a line. Source:
/// jax-ml/scaling-book, sharding.md, whose forms V / (k W), 2 V / (k W) and V / (4 W) are those of many
/// members; the bisection of the longest axis limits an all-to-all.
Seconds torus_time(Collective kind, Bytes message, const Group& group, const NetworkTier& torus);

/// Returns the time of a message between two positions, if their neighbours send at the same time over the
/// same distance: over the shortest way, along all axes in which they differ at once.
Seconds torus_message_time(Bytes message, int from, int to, const NetworkTier& torus);

}  // namespace prismopt
