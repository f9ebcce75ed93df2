#pragma once

/// What the components of an exact search share: the points that may be drawn, and the
/// limits that exclude some of them.

#include "search/components/bound_layers.hpp"
#include "search/limits.hpp"
#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace prismopt {

/// Feasible points whose bounds are known, each at its *place*, and the upper limits of
/// incumbents, which their places own.
struct Points {
    explicit Points(std::size_t objectives) : feasible(objectives) {}

    BoundLayers feasible;
    Limits limits;
    std::set<std::uint64_t> tight = {};  // points whose bounds are those of a sweep with limits

    /// Removes the points that the limits exclude; returns the number of those that remain.
    std::size_t exclude() { return feasible.exclude(limits); }
    /// Returns the places of points that a sweep with limits returned, those that are new last; adds these.
    std::vector<std::size_t> places_of(std::span<const Bound> bounds);
    /// The bound of a point that lies farthest above an upper limit of its draws, if one does.
    std::optional<BoundViolation> violation(std::size_t place, const Evaluation& evaluation) const;
};

/// A request for draws, with the place of the scout or incumbent, or the number of
/// the candidate, that it is for.
struct AskedPoint {
    PointRequest request;
    std::size_t whose = 0;
};

}  // namespace prismopt
