#pragma once

/// Points of a front that reports name: the best, the knee, the cheapest.

#include "io/results/results.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

/// Positions in the front; dominated points and those without finite objectives are not named. Empty where none is left.
struct NamedPoints {
    std::optional<std::size_t> best;  // in the first objective
    /// The nearest to the best of every objective at once, each scaled from the front's best to its worst.
    std::optional<std::size_t> knee;
    std::optional<std::size_t> cheapest;
};
NamedPoints named_points(const Results& results);

/// Each of them once, the best first.
std::vector<std::size_t> positions(const NamedPoints& named);

}  // namespace prismopt
