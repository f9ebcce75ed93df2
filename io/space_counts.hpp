#pragma once

/// How many plans a space has. A combination of the axes' values is no plan of its own where it names another plan once more, or a
/// schedule that does not exist.

#include "io/results.hpp"

#include <cstdint>
#include <vector>

namespace prismopt {

struct SpaceCounts {
    std::uint64_t looked_at = 0;  // combinations
    std::uint64_t plans = 0;      // of these
    std::uint64_t feasible = 0;   // of these

    bool operator==(const SpaceCounts&) const = default;
};

SpaceCounts space_counts(std::uint64_t feasible, const std::vector<Rejected>& rejected);

}  // namespace prismopt
