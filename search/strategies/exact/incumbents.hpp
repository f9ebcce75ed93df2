#pragma once

/// Who becomes an incumbent of an exact search: choices of points by their bounds, by a few
/// draws, or by the points near them.

#include "search/strategies/exact/points.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace prismopt {

/// A point that was drawn to be compared with others by value.
struct Scout {
    std::size_t place = 0;
    std::vector<double> value;
    bool keeps = true;  // what the study allows at most, by value
};

/// The best points by their bounds that no limit excludes, up to `most`: spread over
/// the first layer if it has more.
std::vector<std::size_t> best_by_bounds(const Points& points, std::size_t most);
/// Requests of the best points by their bounds.
std::vector<AskedPoint> scout_requests(const Points& points, std::size_t most);
/// Of the first layer of the remaining bounds, up to `most`.
std::vector<std::size_t> first_layer(const BoundLayers& feasible, std::size_t most);
/// The best `most` by the bound of each objective, in order of their places; at least one.
std::vector<std::size_t> best_of_each_objective(const BoundLayers& feasible, std::size_t objectives,
                                                std::size_t most);
/// The scouts that no other dominates by value, of those that keep what is allowed.
std::vector<std::size_t> best_scouts(std::span<const Scout> scouts);
/// The owners of those limits that many of the points are nearest to: closer
/// limits are worth their draws there.
std::vector<std::size_t> owners_of_many(const Limits& limits,
                                        std::span<const std::span<const double>> points);
/// The same for the points that remain, by their bounds.
std::vector<std::size_t> owners_of_many(const Points& points);

}  // namespace prismopt
