#pragma once

/// A finite design space: named axes, and constraints on leading axes, which
/// exclude whole sub-spaces at once.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace prismopt {

/// An axis. `ordered`: neighbouring labels are similar (degrees); otherwise the labels are categories.
struct Axis {
    std::string name;
    bool ordered = true;
    std::vector<std::string> labels;
};

/// Label positions, one per axis (or per leading axis, if a function says so).
using Point = std::vector<int>;

/// Constraint on the first `depth` axes of a point. A violation excludes all points with these labels.
struct Constraint {
    std::string reason;  // under which rejected tuples are counted
    std::size_t depth = 0;
    std::function<bool(std::span<const int>)> allows;
};

/// Number of raw tuples rejected for one reason.
struct Rejected {
    std::string reason;
    std::uint64_t count = 0;
    double miss = 0.0;    // smallest distance to feasibility (in the unit of the reason); 0 if it has none
    std::string nearest;  // facts of that closest tuple, as its judge writes them; empty: none
};

/// Adds the counts of other tuples, by reason. The facts of the closest tuple stay.
void add(std::span<const Rejected> more, std::vector<Rejected>& all);

class Space {
public:
    /// Throws std::invalid_argument for an axis without labels, duplicate names, or a depth beyond the axes.
    Space(std::vector<Axis> axes, std::vector<Constraint> constraints);

    const std::vector<Axis>& axes() const { return axes_; }
    std::uint64_t size() const { return size_; }  // raw tuples
    Point point(std::uint64_t index) const;       // the last axis varies fastest
    std::uint64_t index(std::span<const int> point) const;

    /// Whether the constraints that end at the last of these leading axes hold; the caller has
    /// checked those of shorter prefixes.
    bool allows(std::span<const int> leading) const;
    /// Whether all constraints hold.
    bool allows_all(std::span<const int> point) const;

    /// Visits the allowed points of [begin, end) in index order; returns the rejected tuples,
    /// in order of the constraints. `further`: constraints for this enumeration alone, judged
    /// after all others of their depth.
    std::vector<Rejected> enumerate(std::uint64_t begin, std::uint64_t end,
                                    const std::function<void(std::uint64_t, std::span<const int>)>& visit,
                                    std::span<const Constraint> further = {}) const;

private:
    std::vector<Axis> axes_;
    std::vector<Constraint> constraints_;
    std::vector<std::uint64_t> stride_;  // index difference of neighbouring labels of an axis
    std::uint64_t size_ = 0;
};

}  // namespace prismopt
