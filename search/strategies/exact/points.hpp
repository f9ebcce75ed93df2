#pragma once

/// What the components of an exact search share: the points that may be drawn, and the limits that exclude some of them.

#include "search/components/bound_layers.hpp"
#include "search/limits.hpp"
#include "search/strategy.hpp"

#include <cstddef>

namespace prismopt {

/// Feasible points whose bounds are known, each at its *place*, and the upper limits of incumbents, which their places own.
struct Points {
    explicit Points(std::size_t objectives) : feasible(objectives) {}

    BoundLayers feasible;
    Limits limits;

    /// Removes the points that the limits exclude; returns the number of those that remain.
    std::size_t exclude() { return feasible.exclude(limits); }
};

/// A request for draws, with the place of the scout or incumbent, or the number of the candidate, that it is for.
struct AskedPoint {
    PointRequest request;
    std::size_t whose = 0;
};

}  // namespace prismopt
