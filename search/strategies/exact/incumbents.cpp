#include "search/strategies/exact/incumbents.hpp"

#include "search/archive.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace prismopt {
namespace {

/// Points that remain near a limit from which a closer one is worth its four times as many draws, which cost
/// as much as drawing four of them: it is half as far from the value, so about half of them remain.
constexpr std::size_t worth_a_limit = 10;

}  // namespace

std::vector<std::size_t> best_by_bounds(const Points& points, std::size_t most)
{
    BoundLayers layers = points.feasible;
    std::vector<std::size_t> places = layers.next_places(layers.size(), points.limits);
    const std::size_t of_first_layer = std::min(places.size(), most);
    for (std::size_t i = 0; i < of_first_layer; ++i) {
        places[i] = places[i * places.size() / of_first_layer];  // spread over a longer one
    }
    places.resize(of_first_layer);
    while (places.size() < most) {
        const std::vector<std::size_t> more = layers.next_places(most - places.size(), points.limits);
        if (more.empty()) {
            break;
        }
        places.insert(places.end(), more.begin(), more.end());
    }
    return places;
}

std::vector<AskedPoint> scout_requests(const Points& points, std::size_t most)
{
    std::vector<AskedPoint> scouts;
    for (const std::size_t place : best_by_bounds(points, most)) {
        const PointRequest request{
            .index = points.feasible.index(place), .rung = 1, .source = {Purpose::scout}};
        scouts.push_back({request, place});
    }
    return scouts;
}

std::vector<std::size_t> first_layer(const BoundLayers& feasible, std::size_t most)
{
    BoundLayers layers = feasible;
    return layers.next_places(most, {});
}

std::vector<std::size_t> best_of_each_objective(const BoundLayers& feasible, std::size_t objectives,
                                                std::size_t most)
{
    std::vector<std::size_t> order(feasible.size());
    std::iota(order.begin(), order.end(), 0);
    const std::size_t chosen = std::min(order.size(), std::max<std::size_t>(1, most));
    std::set<std::size_t> best;
    for (std::size_t k = 0; k < objectives; ++k) {
        const auto by_bound = [&](std::size_t place) { return std::pair(feasible.bound(place)[k], place); };
        std::ranges::sort(order, {}, by_bound);
        best.insert(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    return {best.begin(), best.end()};
}

std::vector<std::size_t> best_scouts(std::span<const Scout> scouts)
{
    std::vector<std::size_t> of_scouts;
    std::vector<std::vector<double>> values;
    for (const Scout& scout : scouts) {
        if (!scout.keeps) {
            continue;
        }
        of_scouts.push_back(scout.place);
        values.push_back(scout.value);
    }
    std::vector<std::size_t> places;
    for (const std::size_t position : non_dominated(values)) {
        places.push_back(of_scouts[position]);
    }
    return places;
}

std::vector<std::size_t> owners_of_many(const Limits& limits, std::span<const std::span<const double>> points)
{
    if (limits.newest() == 0) {
        return {};
    }
    std::map<std::size_t, std::size_t> count;
    for (const std::span<const double> point : points) {
        const Limits::Nearest nearest = limits.nearest(point);
        if (std::isfinite(nearest.excess)) {
            ++count[nearest.owner];
        }
    }
    std::vector<std::size_t> owners;
    for (const auto& [owner, near] : count) {
        if (near >= worth_a_limit) {
            owners.push_back(owner);
        }
    }
    return owners;
}

std::vector<std::size_t> owners_of_many(const Points& points)
{
    std::vector<std::span<const double>> remaining;
    for (const std::size_t place : points.feasible.remaining()) {
        remaining.push_back(points.feasible.bound(place));
    }
    return owners_of_many(points.limits, remaining);
}

}  // namespace prismopt
