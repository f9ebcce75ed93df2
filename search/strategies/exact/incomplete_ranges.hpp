#pragma once

/// Ranges of an exact search that returned only their best bounds.

#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Each of the points that a range did not return is dominated by or equal to a member of its floor. Limits
/// that exclude the floor exclude these points; the other ranges are swept again in smaller ones. Memory thus
/// grows with the number of points that must be drawn.
class IncompleteRanges {
public:
    /// Adds a range that did not return `count` points.
    void add(const SweepRange& range, std::uint64_t count, std::vector<std::vector<double>> floor);
    /// Drops the ranges all of whose points the limits exclude.
    void drop_excluded(std::span<const std::vector<double>> limits);
    /// Takes out the first ranges, if there are any; returns their parts, which
    /// together return up to `keep` bounds.
    std::vector<SweepRange> next_ranges(std::uint64_t keep);

    bool empty() const { return ranges_.empty(); }
    /// Number of points that were not returned.
    std::uint64_t points() const;
    /// Lowers each objective to the least value of the floors.
    void lower_to_least(std::vector<double>& least) const;

private:
    struct Incomplete {
        std::uint64_t begin = 0;  // raw tuples
        std::uint64_t end = 0;
        std::uint64_t count = 0;  // of points
        std::vector<std::vector<double>> floor;
    };
    std::vector<Incomplete> ranges_;
};

}  // namespace prismopt
