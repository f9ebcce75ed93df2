#pragma once

/// Number of plans in a space. A combination of axis values is not a plan of its own if it duplicates another plan or has no defined
/// schedule.

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

/// Summary of a space as every command prints it: plans, feasible plans, infeasible plans by reason and, in the last line, combinations
/// that are not plans of their own.
std::string space_text(std::uint64_t combinations, std::uint64_t feasible, const std::vector<Rejected>& rejected);

}  // namespace prismopt
