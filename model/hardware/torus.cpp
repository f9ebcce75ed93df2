#include "model/hardware/torus.hpp"

#include <algorithm>
#include <cstdlib>

namespace prismopt {

namespace {

constexpr double links_of_ring = 2.0;  // of a member, one to each neighbour; both are in use at once

BytesPerSecond link_rate(const NetworkTier& torus) { return torus.bandwidth * torus.efficiency; }

/// Of one group, along one axis.
BytesPerSecond axis_rate(const AxisSpan& span, const NetworkTier& torus)
{
    constexpr double of_line = 0.5;  // the link at its end carries everything
    return link_rate(torus) * (links_of_ring * (span.ring ? 1.0 : of_line) / span.spacing);
}

double hops_of(const AxisSpan& span)
{
    return span.spacing * (span.ring ? 0.5 * span.members : span.members - 1.0);
}

/// Hops along an axis, the shorter way round.
int distance(int from, int to, int length, bool wrap)
{
    const int direct = std::abs(to - from);
    return wrap ? std::min(direct, length - direct) : direct;
}

}  // namespace

double links_of_gpu(const NetworkTier& torus)
{
    double links = 0.0;
    for (std::size_t axis = 0; axis < torus.shape.size(); ++axis) {
        const double length = torus.shape[axis];
        const bool ring = torus.wrap[axis] && length > 1.0;
        links += links_of_ring * (ring ? 1.0 : (length - 1.0) / length);
    }
    return links;
}

std::vector<AxisSpan> axis_spans(const Group& group, const NetworkTier& torus)
{
    std::vector<AxisSpan> spans;
    int inner = 1;  // positions between neighbours on the axis
    for (std::size_t axis = 0; axis < torus.shape.size(); ++axis) {
        const int length = torus.shape[axis];
        AxisSpan span;
        bool spaced = false;
        for (const Spacing& dimension : group.in_torus) {
            const int first = std::max(dimension.stride, inner);
            const int last = std::min(dimension.count * dimension.stride, inner * length);
            if (last > first) {
                span.members *= (last + first - 1) / first;
                if (!spaced) {
                    span.spacing = std::max(1, first / inner);
                }
                spaced = true;
            }
        }
        span.ring = span.members > 1 && torus.wrap[axis] && span.members * span.spacing == length;
        spans.push_back(span);
        inner *= length;
    }
    return spans;
}

Seconds torus_time(Collective kind, Bytes message, const Group& group, const NetworkTier& torus)
{
    BytesPerSecond rate{0.0};  // of all axes
    double hops = 0.0;
    Seconds exchange{0.0};  // all-to-all over the narrowest bisection
    for (const AxisSpan& span : axis_spans(group, torus)) {
        if (span.members > 1) {
            constexpr double bisection = 4.0;  // half of what is sent crosses it, over two links of the ring
            const BytesPerSecond own = axis_rate(span, torus);
            rate += own;
            hops += hops_of(span);
            exchange = std::max(exchange, message * (span.members / bisection) / own);
        }
    }
    const Seconds latency = torus.latency * hops;
    if (kind == Collective::all_to_all) {
        return std::max(exchange, latency);
    }
    const double passes = kind == Collective::all_reduce ? 2.0 : 1.0;
    const double others = (group.size - 1.0) / group.size;
    return passes * std::max(others * message / rate, latency);
}

Seconds torus_message_time(Bytes message, int from, int to, const NetworkTier& torus)
{
    int hops = 0;
    int axes = 0;
    for (std::size_t axis = 0; axis < torus.shape.size(); ++axis) {
        const int length = torus.shape[axis];
        const int own = distance(from % length, to % length, length, torus.wrap[axis]);
        from /= length;
        to /= length;
        hops += own;
        axes += own > 0 ? 1 : 0;
    }
    return hops == 0 ? Seconds{0.0} : torus.latency * hops + message * hops / (link_rate(torus) * axes);
}

}  // namespace prismopt
