#pragma once

/// Named points of a front: the best, the knee and the cheapest.

#include "io/results/results.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Positions in the front; dominated points and points without finite objectives are
/// excluded. Empty if none remains.
struct NamedPoints {
    std::optional<std::size_t> best;  // in the first objective
    /// The point closest to the ideal point, with each objective scaled from the
    /// front's best value to its worst.
    std::optional<std::size_t> knee;
    std::optional<std::size_t> cheapest;
};
NamedPoints named_points(const Results& results);

/// Positions without duplicates, the best first.
std::vector<std::size_t> positions(const NamedPoints& named);

}  // namespace prismopt
