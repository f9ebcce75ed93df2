#include "search/ranking.hpp"

#include "search/archive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace prismopt {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<std::size_t> positions(std::size_t count)
{
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

std::vector<Values> of(std::span<const Values> points, const std::vector<std::size_t>& chosen)
{
    std::vector<Values> values;
    for (const std::size_t position : chosen) {
        values.push_back(points[position]);
    }
    return values;
}

/// Members of each layer, in ascending order of positions.
std::vector<std::vector<std::size_t>> by_layer(std::span<const Values> points)
{
    std::vector<std::vector<std::size_t>> members;
    const std::vector<std::size_t> layer = layers(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (layer[i] >= members.size()) {
            members.resize(layer[i] + 1);
        }
        members[layer[i]].push_back(i);
    }
    return members;
}

void add_directions(std::size_t objectives, std::size_t left, std::size_t divisions, Values& so_far,
                    std::vector<Values>& all)
{
    if (so_far.size() + 1 == objectives) {
        so_far.push_back(static_cast<double>(left) / static_cast<double>(divisions));
        all.push_back(so_far);
        so_far.pop_back();
        return;
    }
    for (std::size_t own = 0; own <= left; ++own) {
        so_far.push_back(static_cast<double>(own) / static_cast<double>(divisions));
        add_directions(objectives, left - own, divisions, so_far, all);
        so_far.pop_back();
    }
}

double distance_to_ray(const Values& point, const Values& direction)
{
    const double dot = std::inner_product(point.begin(), point.end(), direction.begin(), 0.0);
    const double length2 = std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0);
    double sum = 0.0;
    for (std::size_t k = 0; k < point.size(); ++k) {
        sum += std::pow(point[k] - dot / length2 * direction[k], 2);
    }
    return std::sqrt(sum);
}

struct Niche {
    std::size_t direction = 0;
    double distance = 0.0;
};

/// The nearest direction of each point, in units of the box between the ideal point and the nadir of `front`.
std::vector<Niche> niches_of(std::span<const Values> points, const std::vector<std::size_t>& front,
                             std::span<const Values> directions)
{
    const std::size_t objectives = points.front().size();
    Values ideal(objectives, infinity);
    Values nadir(objectives, -infinity);
    for (const std::size_t member : front) {
        for (std::size_t k = 0; k < objectives; ++k) {
            ideal[k] = std::min(ideal[k], points[member][k]);
            nadir[k] = std::max(nadir[k], points[member][k]);
        }
    }
    std::vector<Niche> niches;
    for (const Values& point : points) {
        Values scaled;
        for (std::size_t k = 0; k < objectives; ++k) {
            scaled.push_back(nadir[k] > ideal[k] ? (point[k] - ideal[k]) / (nadir[k] - ideal[k]) : 0.0);
        }
        Niche nearest{0, infinity};
        for (std::size_t d = 0; d < directions.size(); ++d) {
            const double distance = distance_to_ray(scaled, directions[d]);
            if (distance < nearest.distance) {
                nearest = {d, distance};
            }
        }
        niches.push_back(nearest);
    }
    return niches;
}

}  // namespace

std::vector<std::size_t> layers(std::span<const Values> points)
{
    // Each point goes to the first layer without a member that dominates it, points in
    // lexicographic order (ENS, Zhang et al., IEEE Trans. Evol. Comput. 19 (2015) 201-213, with a
    // staircase a layer instead of the list).
    std::vector<std::size_t> order = positions(points.size());
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
    std::vector<std::size_t> layer(points.size(), 0);
    std::vector<RunningFront> fronts;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Values& point = points[order[i]];
        if (i > 0 && point == points[order[i - 1]]) {
            layer[order[i]] = layer[order[i - 1]];
            continue;
        }
        auto home = std::partition_point(fronts.begin(), fronts.end(),
                                         [&](const RunningFront& f) { return f.covers(point); });
        if (home == fronts.end()) {
            home = fronts.insert(fronts.end(), RunningFront(point.size()));
        }
        home->add(point);
        layer[order[i]] = static_cast<std::size_t>(home - fronts.begin());
    }
    return layer;
}

std::vector<double> crowding(std::span<const Values> points)
{
    std::vector<double> distance(points.size(), 0.0);
    if (points.empty()) {
        return distance;
    }
    for (std::size_t k = 0; k < points.front().size(); ++k) {
        std::vector<std::size_t> order = positions(points.size());
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return points[a][k] < points[b][k]; });
        const double width = points[order.back()][k] - points[order.front()][k];
        distance[order.front()] = infinity;
        distance[order.back()] = infinity;
        if (!(width > 0.0) || !std::isfinite(width)) {
            continue;
        }
        for (std::size_t i = 1; i + 1 < order.size(); ++i) {
            distance[order[i]] += (points[order[i + 1]][k] - points[order[i - 1]][k]) / width;
        }
    }
    return distance;
}

std::vector<std::size_t> by_rank_and_crowding(std::span<const Values> points)
{
    std::vector<std::size_t> ranked;
    for (const std::vector<std::size_t>& layer : by_layer(points)) {
        const std::vector<double> lonely = crowding(of(points, layer));
        std::vector<std::size_t> order = positions(layer.size());
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return lonely[a] > lonely[b]; });
        for (const std::size_t position : order) {
            ranked.push_back(layer[position]);
        }
    }
    return ranked;
}

std::vector<Values> reference_directions(std::size_t objectives, std::size_t most)
{
    std::vector<Values> directions;
    for (std::size_t divisions = 1;; ++divisions) {
        std::vector<Values> finer;
        Values so_far;
        add_directions(objectives, divisions, divisions, so_far, finer);
        if (!directions.empty() && finer.size() > most) {
            return directions;
        }
        directions = std::move(finer);
        if (objectives == 1) {
            return directions;
        }
    }
}

std::vector<std::size_t> survivors_by_niche(std::span<const Values> points,
                                            std::span<const Values> directions, std::size_t keep)
{
    std::vector<std::size_t> kept;
    if (points.empty()) {
        return kept;
    }
    const auto members = by_layer(points);
    const std::vector<Niche> niches = niches_of(points, members.front(), directions);
    std::vector<std::size_t> crowd(directions.size(), 0);
    for (std::vector<std::size_t> layer : members) {
        if (kept.size() + layer.size() <= keep) {
            for (const std::size_t member : layer) {
                ++crowd[niches[member].direction];
            }
            kept.insert(kept.end(), layer.begin(), layer.end());
            continue;
        }
        while (kept.size() < keep) {
            // The emptiest direction first, and of its points the one that lies closest to it.
            const auto next = std::min_element(layer.begin(), layer.end(), [&](std::size_t a, std::size_t b) {
                const std::size_t in_a = crowd[niches[a].direction];
                const std::size_t in_b = crowd[niches[b].direction];
                return in_a != in_b ? in_a < in_b : niches[a].distance < niches[b].distance;
            });
            ++crowd[niches[*next].direction];
            kept.push_back(*next);
            layer.erase(next);
        }
        break;
    }
    return kept;
}

}  // namespace prismopt
