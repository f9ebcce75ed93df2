#pragma once

/// How an evolutionary search makes points of a space from others.

#include "search/dice.hpp"
#include "search/space.hpp"

#include <optional>
#include <vector>

namespace prismopt {

/// The space as the moves see it: which axes are degrees, whose product a move can keep.
class Moves {
public:
    /// The space must outlive the moves.
    explicit Moves(const Space& space);

    /// Each label equally likely.
    Point any(Dice& dice) const;

    /// Axis by axis from either parent; of ordered axes sometimes a label between the two.
    Point cross(const Point& a, const Point& b, Dice& dice) const;

    /// Each axis with this probability, and at least one: a near label of an ordered axis (seldom any), any other of a category.
    void mutate(Point& point, double probability, Dice& dice) const;

    /// Moves a factor from one degree to another, so that their product stays; false where no two axes can.
    bool shift_factor(Point& point, Dice& dice) const;

    /// The point itself where the constraints allow it, else one that keeps as many leading labels as it can and changes each
    /// other to the nearest allowed; nothing when that takes too many tries.
    std::optional<Point> repaired(const Point& point) const;

private:
    int count(std::size_t axis) const { return static_cast<int>(space_.axes()[axis].labels.size()); }

    const Space& space_;
    std::vector<std::size_t> free_axes_;  // with more than one label
    std::vector<std::vector<long long>>
        degree_;                        // [axis][label] of ordered axes whose labels are positive whole numbers, else empty
    std::vector<std::size_t> degrees_;  // these axes
};

}  // namespace prismopt
