#include "search/strategies/exact/points.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace prismopt {
namespace {

/// Relative difference between a bound and an exact value that rounding may cause.
constexpr double rounding = 1e-12;

}  // namespace

std::vector<std::size_t> Points::places_of(std::span<const Bound> bounds)
{
    std::map<std::uint64_t, std::size_t> known;
    for (std::size_t place = 0; place < feasible.size(); ++place) {
        known[feasible.index(place)] = place;
    }
    std::vector<std::size_t> places;
    for (const Bound& bound : bounds) {
        if (const auto found = known.find(bound.index); found != known.end()) {
            places.push_back(found->second);
        } else {
            feasible.add(bound.index, bound.objectives);
            tight.insert(bound.index);
        }
    }
    feasible.put_in_order();
    for (std::size_t place = known.size(); place < feasible.size(); ++place) {
        places.push_back(place);
    }
    return places;
}

std::optional<BoundViolation> Points::violation(std::size_t place, const Evaluation& evaluation) const
{
    std::optional<BoundViolation> largest;
    const std::span<const double> bounds = feasible.bound(place);
    for (std::size_t k = 0; k < bounds.size(); ++k) {
        const double bound = bounds[k];
        const double high = evaluation.objectives[k].simultaneous_high;
        if (std::isinf(bound) || high >= bound - rounding * std::abs(bound)) {
            continue;
        }
        const double relative = (bound - high) / std::max(std::abs(bound), std::abs(high));
        if (largest && largest->relative >= relative) {
            continue;
        }
        largest = BoundViolation{evaluation.index, k, bound, high, relative};
    }
    return largest;
}

}  // namespace prismopt
