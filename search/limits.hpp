#pragma once

/// Simultaneous upper confidence limits of evaluated points: points that they dominate are not on the front.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Non-dominated limits, numbered from 1 in the order of arrival.
class Limits {
public:
    /// Adds a limit, unless it is dominated or not finite in every objective.
    void add(std::size_t owner, const std::vector<double>& high);

    /// Number of the newest limit; 0 if there is none.
    std::uint64_t newest() const { return newest_; }

    /// Whether a limit of another owner, newer than `after`, dominates the lower limits of a point.
    bool rule_out(std::size_t owner, std::span<const double> low, std::uint64_t after) const;

    /// The limit that would have to be lowered least, in relative terms, to dominate the lower limits
    /// of a point; there must be one.
    struct Nearest {
        std::size_t owner = 0;
        double excess = 0.0;  // by this share of it
    };
    Nearest nearest(std::span<const double> low) const;
    /// Owner of the least limit of an objective; there must be a limit.
    std::size_t owner_of_least(std::size_t objective) const;
    /// In lexicographic order.
    std::vector<std::vector<double>> sorted() const;

private:
    struct Limit {
        std::uint64_t number = 0;
        std::size_t owner = 0;
        std::vector<double> high;
    };
    std::vector<Limit> limits_;  // by number
    std::uint64_t newest_ = 0;
};

}  // namespace prismopt
