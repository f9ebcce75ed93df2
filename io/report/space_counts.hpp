#pragma once

/// What became of the combinations of values of a space. A combination is not a plan of its own if it
/// duplicates another plan or has no defined schedule.

#include "io/results/results.hpp"
#include "io/scenario/choices.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace prismopt {

/// Combinations. Each of the examined ones is counted once; one that breaks a rule before it is known to be a
/// plan of its own is infeasible.
struct SpaceCounts {
    std::uint64_t examined = 0;
    std::uint64_t feasible = 0;    // of these: plans
    std::uint64_t infeasible = 0;  // of these
    std::uint64_t not_plans = 0;   // examined combinations that are duplicate or undefined

    bool operator==(const SpaceCounts&) const = default;
};

/// "1.3 %".
std::string share_of(std::uint64_t count, std::uint64_t whole);

SpaceCounts space_counts(std::uint64_t feasible, const std::vector<Rejected>& rejected);

/// What the search spent: points with draws, step draws, and those of the confirmed front.
struct StudyEffort {
    std::uint64_t evaluated = 0;
    std::uint64_t draws = 0;
    std::uint64_t confirming = 0;
};
StudyEffort study_effort(const Results& results);

/// Summary of a space as every command prints it: the counts, and the infeasible combinations by reason.
std::string space_text(std::uint64_t combinations, std::uint64_t feasible,
                       const std::vector<Rejected>& rejected);

/// The excluded variants by conflict, each with the first of them and what to do; empty if none is excluded.
/// `searched`: variants of the searched space, to which nlopt may have added some; 0: those not excluded.
std::string variants_text(const VariantCounts& counts, std::uint64_t searched = 0);

}  // namespace prismopt
