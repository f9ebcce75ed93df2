#pragma once

/// Variation operators of the evolutionary search.

#include "search/search_random.hpp"
#include "search/space.hpp"

#include <optional>
#include <vector>

namespace prismopt {

/// Crossover, mutation and repair of points of a space. Axes that are degrees allow
/// moves that keep their product.
class Moves {
public:
    /// The space must outlive the moves.
    explicit Moves(const Space& space);

    /// A random point, each label equally likely.
    Point any(SearchRandom& random) const;

    /// Crossover: each axis from either parent; for ordered axes sometimes a label in between.
    Point cross(const Point& a, const Point& b, SearchRandom& random) const;

    /// Mutates each axis with this probability, and at least one: to a near label of an ordered axis
    /// (rarely to any), or to any other category.
    void mutate(Point& point, double probability, SearchRandom& random) const;

    /// Moves a factor from one degree to another, which keeps their product. False if that is impossible.
    bool shift_factor(Point& point, SearchRandom& random) const;

    /// The point itself if the constraints allow it; otherwise a point that keeps as many leading labels as
    /// possible and changes the others to the nearest allowed labels. Nothing if that takes too many tries.
    std::optional<Point> repaired(const Point& point) const;

private:
    int count(std::size_t axis) const { return static_cast<int>(space_.axes()[axis].labels.size()); }

    const Space& space_;
    std::vector<std::size_t> free_axes_;  // with more than one label
    // [axis][label] of ordered axes whose labels are positive whole numbers, else empty
    std::vector<std::vector<long long>> degree_;
    std::vector<std::size_t> degrees_;  // these axes
};

}  // namespace prismopt
