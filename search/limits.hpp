#pragma once

/// Safe upper limits of evaluated points: what they dominate cannot be on the front.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace prismopt {

/// Limits that no other limit dominates, numbered from 1 in the order they came.
class Limits {
public:
    /// A limit that is not finite in each objective, or adds nothing to those present, is not kept.
    void add(std::size_t owner, const std::vector<double>& high);

    /// Number of the newest limit; 0: there was none yet.
    std::uint64_t newest() const { return newest_; }

    /// Whether a limit newer than `after`, of another owner, dominates the best that a point can be.
    bool rule_out(std::size_t owner, std::span<const double> low, std::uint64_t after) const;

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
