#pragma once

/// Settings of an exact search, by component.

#include "search/strategy.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prismopt {

struct SweepOptions {
    std::uint64_t ranges = 64;  // maximum number, of a space without given ranges
    // maximum number of ranges requested at once: each has its own copy of the limits
    std::size_t at_once = 4096;
    std::uint64_t kept_again = most_kept_bounds;  // maximum number of bounds returned by one repeated sweep
};

struct IncumbentOptions {
    std::size_t scouts = 32;  // minimum number of points that are drawn to choose incumbents
    // of an explored front; also the most incumbents of the first further round
    std::size_t most_scouts = 256;
    // of limits, at most, between the sweep and the first point that is drawn to be compared
    std::size_t further_rounds = 2;
};

struct RaceBatches {
    std::size_t most = 64;            // maximum number of points requested at once, with few candidates
    std::size_t most_of_many = 1024;  // with many, because plans of one program share their draws
    // minimum number of new points requested at once, from further layers if one has fewer
    std::size_t fewest = 8;
};

struct GapOptions {
    double sought = 0.01;          // of each objective, before an explored space is swept for the front
    std::uint64_t kept = 1 << 14;  // maximum number of bounds returned by the sweep for this gap
    std::size_t rounds = 2;        // of limits, with more draws each, while a gap is larger
    std::size_t incumbents = 32;   // about, of the round before and of each round after it
};

struct ExactOptions {
    StudyGoal goal = {};                  // its parts aside: the ranges say what is swept
    std::uint64_t space_size = 0;         // raw tuples
    std::vector<SweepRange> ranges = {};  // ranges to sweep instead of the whole space
    // explore this space for incumbents before it is swept; null: sweep it first. It must outlive the search
    const Space* explored = nullptr;
    SweepOptions sweeps = {};
    IncumbentOptions incumbents = {};
    RaceBatches batches = {};
    GapOptions gaps = {};
};

/// The options, with the ranges of the whole space if none are given. Throws std::invalid_argument
/// if they contradict each other.
ExactOptions checked(ExactOptions options);

/// Whether all objectives have lower bounds. Without one, limits exclude no point before it is drawn.
bool all_bounded(const StudyGoal& goal);

}  // namespace prismopt
