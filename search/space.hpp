#pragma once

/// A finite design space: named axes, and constraints on leading axes that let whole sub-spaces be skipped.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// `ordered`: neighbours in the list are neighbours in meaning (degrees); otherwise the labels are categories.
struct Axis {
    std::string name;
    bool ordered = true;
    std::vector<std::string> labels;
};

/// Label positions, one per axis (or the leading ones, where a function says so).
using Point = std::vector<int>;

/// Judges the first `depth` axes of a point. Checked as soon as these are set, so a violation skips everything behind them.
struct Constraint {
    std::string reason;  // what the rejected tuples are counted under
    std::size_t depth = 0;
    std::function<bool(std::span<const int>)> allows;
};

/// Raw tuples that one reason rejected.
struct Rejected {
    std::string reason;
    std::uint64_t count = 0;
    double miss = 0.0;    // smallest distance to feasibility seen (unit belongs to the reason); 0 where it has none
    std::string nearest;  // words on that nearest one, where there are any
};

class Space {
public:
    /// Throws std::invalid_argument on an axis without labels, equal names, or a depth beyond the axes.
    Space(std::vector<Axis> axes, std::vector<Constraint> constraints);

    const std::vector<Axis>& axes() const { return axes_; }
    std::uint64_t size() const { return size_; }  // raw tuples
    Point point(std::uint64_t index) const;       // the last axis varies fastest
    std::uint64_t index(std::span<const int> point) const;

    /// Whether the constraints that end at the last of these leading axes hold (those before are the caller's to have checked).
    bool allows(std::span<const int> leading) const;
    /// Whether all constraints hold.
    bool allows_all(std::span<const int> point) const;

    /// Visits the allowed points of [begin, end) in index order; returns what was rejected, in order of the constraints.
    std::vector<Rejected> enumerate(std::uint64_t begin, std::uint64_t end,
                                    const std::function<void(std::uint64_t, std::span<const int>)>& visit) const;

private:
    std::vector<Axis> axes_;
    std::vector<Constraint> constraints_;
    std::vector<std::uint64_t> stride_;  // raw tuples behind one step of an axis
    std::uint64_t size_ = 0;
};

}  // namespace prismopt
