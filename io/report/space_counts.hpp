#pragma once

/// How many plans a space has. A combination of the axes' values is no plan of its own where it names another plan once more, or a
/// schedule that does not exist.

#include "io/results/results.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

struct SpaceCounts {
    std::uint64_t looked_at = 0;  // combinations
    std::uint64_t plans = 0;      // of these
    std::uint64_t feasible = 0;   // of these

    bool operator==(const SpaceCounts&) const = default;
};

/// "1.3 %".
std::string share_of(std::uint64_t count, std::uint64_t whole);

SpaceCounts space_counts(std::uint64_t feasible, const std::vector<Rejected>& rejected);

/// Lines on a space of so many combinations, as every command prints them: plans, how many are feasible, why others are not; last, in one
/// line, the combinations that are no plans.
std::string space_text(std::uint64_t combinations, std::uint64_t feasible, const std::vector<Rejected>& rejected);

}  // namespace prismopt
